"""Words for background work: what a job does, how it ended, what waits or is missing. Pure."""

from core.activity import DoneJob, Health, JobState, Outcome, QueuedJob
from core.wording import count

_DOING = {
    "commit": "Moving old messages into memory",
    "memory_update": "Updating Working Memory",
    "memory_files": "Writing MEMORY.md",
    "finalise": "Finishing a segment",
    "recap": "Writing a recap",
    "extract": "Reading events and facts",
    "tree": "Adding to the memory tree",
    "seal": "Summing up the memory tree",
    "lessons": "Noting what tools failed at",
    "goals": "Looking for goals",
    "librarian": "Tidying memory files",
    "vectors": "Making messages findable by meaning",
    "rescan": "Looking for secrets with new rules",
    "twin": "Writing readable copies",
    "remember": "Reading turns",
}
_DONE = {
    "commit": "Old messages moved into memory",
    "memory_update": "Working Memory updated",
    "memory_files": "MEMORY.md looked after",
    "finalise": "Segment finished",
    "recap": "Recap made",
    "extract": "Events and facts read",
    "tree": "Memory tree grown",
    "seal": "Memory tree summed up",
    "lessons": "Failures of tools noted",
    "goals": "Goals looked for",
    "librarian": "Memory files tidied",
    "vectors": "Messages made findable by meaning",
    "rescan": "Memory searched for secrets",
    "twin": "Readable copies written",
    "remember": "Turns read",
}
_OUTCOMES = {
    Outcome.DONE: "",
    Outcome.FAILED: "failed, will be tried again",
    Outcome.GAVE_UP: "given up",
    Outcome.TAKEN_OVER: "cut off, taken over",
}
_HIDDEN = {
    "password": "a password",
    "token": "a token",
    "api_key": "an API key",
    "private_key": "a private key",
    "secret": "a secret",
    "card": "a card number",
    "iban": "an account number",
    "id": "an identity number",
}


def doing(kind: str) -> str:
    """What a job of a kind does: `Writing a recap`."""
    return _DOING.get(kind, kind.replace("_", " ").capitalize())


def done(entry: DoneJob) -> str:
    """What was done, or what was not: `Recap made`, `Writing a recap: failed`."""
    if entry.outcome is not Outcome.DONE:
        return f"{doing(entry.kind)}: {_OUTCOMES[entry.outcome]}"
    words = _DONE.get(entry.kind, doing(entry.kind))
    return f"{words} ({entry.times:,})" if entry.times > 1 else words


def step(kind: str) -> str:
    """The name of a step in the list of last successes."""
    return _DONE.get(kind, doing(kind))


def took(seconds: float) -> str:
    """How long a job took; nothing where it is not worth saying."""
    return f"{seconds:.0f} s" if seconds >= 1 else ""


def wait(job: QueuedJob, now: float) -> str:
    """When a job's turn comes."""
    if job.state is not JobState.BACK_OFF:
        return "waits for its turn"
    left_s = max(0.0, job.due_at - now)
    if left_s < 90:
        return f"next try in {max(1, round(left_s))} s"
    return f"next try in {round(left_s / 60)} min" if left_s < 5400 else f"next try in {round(left_s / 3600)} h"


def tries(attempts: int) -> str:
    """How often something was tried."""
    return "tried once" if attempts == 1 else f"tried {attempts} times"


def health_lines(health: Health) -> tuple[tuple[str, str], ...]:
    """What waits or is missing, each with its tone: `warn` for what should not stay so, `quiet` for the rest."""
    lines = [
        ("warn", health.turns_waiting, "turn is not in the index yet", "turns are not in the index yet"),
        ("warn", health.turns_to_remember, "turn is not read yet", "turns are not read yet"),
        ("warn", health.twins_missing, "readable copy is missing", "readable copies are missing"),
        ("warn", health.refused_writes, "write of a memory file was refused", "writes of memory files were refused"),
        ("quiet", health.jobs_in_back_off, "job waits for its next try", "jobs wait for their next try"),
        (
            "quiet",
            health.vectors_missing,
            "item is not findable by meaning yet",
            "items are not findable by meaning yet",
        ),
        ("quiet", health.tombstones, "forgotten thing stays forgotten", "forgotten things stay forgotten"),
    ]
    told = [(tone, count(n, one, many)) for tone, n, one, many in lines if n]
    told += [
        ("quiet", f"{count(n, 'segment has', 'segments have')} a placeholder for a recap: {cause.rstrip('.')}")
        for cause, n in health.recaps_missing
    ]
    told += [
        ("quiet", f"{_hidden(kind)} is hidden from memory in {count(n, 'message')}") for kind, n in health.redactions
    ]
    return tuple(told)


def _hidden(kind: str) -> str:
    words = _HIDDEN.get(kind, kind)
    return words[0].upper() + words[1:]
