"""What the model process sent, as records and as sentences for the user. Pure."""

from core.errors import ModelError
from core.llm.frames import Frame
from core.llm.port import ChoiceScores, GenerationEnd, GrammarError, ModelProcessError, PromptTooLongError


def read_end(frame: Frame) -> GenerationEnd:
    """Return how an answer ended."""
    return GenerationEnd(**{key: value for key, value in frame.items() if key not in {"op", "id"}})


def read_scores(frame: Frame) -> ChoiceScores:
    """Return the probabilities of choices."""
    return ChoiceScores(
        probabilities=tuple(frame["probabilities"]),
        prompt_tokens=frame["prompt_tokens"],
        reused_tokens=frame["reused_tokens"],
        prompt_s=frame["prompt_s"],
    )


def read_error(frame: Frame, details: str) -> ModelError:
    """Return why a request failed; `details` are the process's last lines."""
    match frame["kind"]:
        case "prompt_too_long":
            return PromptTooLongError(prompt_tokens=frame["prompt_tokens"], limit_tokens=frame["limit_tokens"])
        case "cancelled":
            return ModelError("The model was stopped before it answered.")
        case "grammar":
            return GrammarError(frame["reason"])
        case _:
            return ModelProcessError(
                f"The model could not answer ({frame['reason']}). The conversation is kept; try again.",
                details=details,
            )


def explain_load_failure(name: str, details: str) -> str:
    """Return a sentence for the user from what llama.cpp logged when it refused a model."""
    said = details.lower()
    if any(word in said for word in ("failed to allocate", "unable to allocate", "out of memory", "memoryerror")):
        return f"There is not enough memory for {name}. Close other programs, or choose a smaller model or context."
    if "unknown model architecture" in said:
        return f"{name} is of a kind that this version of Keepsake does not know. Choose another model."
    if "not within the file bounds" in said or "corrupted or incomplete" in said:
        return f"The model file {name} is cut short or damaged. Download it again."
    return f"The model {name} could not be loaded; the log has its last lines. Choose another model, or try again."
