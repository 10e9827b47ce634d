"""Words for a commit that the user follows: its steps, what came of it, what was given up. Pure."""

from collections.abc import Sequence

from app.rendering.display import one_line
from app.rendering.words import clock_time
from core.model import CommitStep, Compacted, FailedArchive, FailedStage
from core.wording import count

NOTHING = "Nothing to compact: every finished message here is archived already."
STOPPING = "Stopping…"
_STEPS = {
    CommitStep.ARCHIVING: "Compacting: messages go to the archive…",
    CommitStep.WAITING: "Compacting: an earlier archive comes first…",
    CommitStep.UPDATING: "Compacting: Working Memory is updated…",
    CommitStep.EXTRACTING: "Compacting: what lasts goes to long-term memory…",
    CommitStep.FINISHING: "Compacting: the archive is completed…",
}
_STAGES = {
    "memory": "Working Memory was not updated",
    "extraction": "Long-term memory did not take in what lasts",
    "files": "The archive's files are not complete",
}


def step_words(step: CommitStep) -> str:
    """Say where a compact stands; "" where it has ended."""
    return _STEPS.get(step, "")


def result_words(result: Compacted, *, remember: bool) -> str:
    """Say what came of a compact, in a sentence or two; `remember` is False for a temporary conversation."""
    if result.step is CommitStep.STOPPED:
        return result.error
    if not result.archives:
        return NOTHING
    archived = f"{count(result.messages, 'message')} {'is' if result.messages == 1 else 'are'} archived"
    if result.step is CommitStep.DONE:
        held = "Working Memory holds what mattered" if remember else "Nothing of this conversation is remembered"
        return f"{archived}. {held}."
    return f"{archived}, but not yet in Working Memory. {result.error}".strip()


def failed_words(failed: Sequence[FailedArchive], now: float) -> tuple[str, str]:
    """Return what was given up, as a headline and the newest reason; ("", "") for nothing."""
    if not failed:
        return "", ""
    newest = failed[-1]
    at = clock_time(newest.archived_at, now)
    if len(failed) > 1:
        headline = f"{len(failed):,} archives are not finished, the newest of {at}."
    else:
        headline = f"The archive of {at} is not finished."
    return headline, " ".join(_stage_words(stage) for stage in newest.stages)


def _stage_words(stage: FailedStage) -> str:
    return f"{_STAGES.get(stage.stage, 'A part failed')}: {one_line(stage.error, 400) or 'no reason was noted.'}"
