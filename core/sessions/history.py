"""Which messages a prompt shows, so that its beginning stays the same from turn to turn.

Pure. While all fits, history only grows. When it outgrows its share it is cut once, to a fraction, and begins there
until memory is next committed: a cut at every turn would have the model read the whole prompt at every turn.
"""

from collections.abc import Sequence
from dataclasses import replace

from core.sessions.budget import Fit, fit_messages
from core.sessions.turns import LiveMessage, MessageKey, read_turns

CUT_TO = 0.6  # of the share, at a cut (desktop.md 3.6)


def choose_history(messages: Sequence[LiveMessage], budget_tokens: int, start: MessageKey | None = None) -> Fit:
    """Return what is shown within the budget; `start` is where the history was cut before, if it was."""
    ids = [message.id for message in messages]
    turns = read_turns(messages)
    # the newest turn is always looked at whole
    before = min(ids.index(start), turns[-1].start) if start in ids else 0
    fit = fit_messages(messages[before:], budget_tokens)
    if not fit.left_out_ids and not fit.max_tokens:
        return replace(fit, left_out_ids=(*ids[:before], *fit.left_out_ids))
    cut = fit_messages(messages, int(budget_tokens * CUT_TO))
    # a newest message that needs more than the fraction may have the whole
    return fit_messages(messages, budget_tokens) if cut.max_tokens else cut
