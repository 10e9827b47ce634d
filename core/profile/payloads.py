"""What an order to remember is about. Pure."""

from core.profile.slot_rules import load_slot_languages
from core.profile.slots import Reading, read_statement
from core.text.clauses import fold
from core.text.statements import StatementKind, find_statements


def read_payload(payload: str) -> tuple[Reading, ...]:
    """Return what an order to remember is about: the statements in it, else its words as a wish or a fact."""
    stated = [
        reading for each in find_statements(payload) if (reading := read_statement(each.kind, each.text)) is not None
    ]
    if stated:
        return tuple(stated)
    wishes = any(language.orders.match(fold(payload)) for language in load_slot_languages().values())
    kind = StatementKind.PREFERENCE if wishes else StatementKind.FACT
    reading = read_statement(kind, payload)
    return (reading,) if reading is not None else ()
