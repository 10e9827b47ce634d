"""A message as the clauses its writer says in their own name.

Code, quotations, tables and pasted logs are dropped, text handed over as material is dropped, the
rest is cut into sentences and clauses and marked: question, hedged, past, barred (supposition,
denial, condition, reported speech). What a clause matches on is masked and lower-cased character by
character, so that its place in the user's text is never lost. Relies on `resources/rules/statements.*`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from core.text.order_rules import REMEMBER, find_order, may_order
from core.text.rules import NEVER, RuleTable, load_rules

MAX_CHARS_READ = 20_000
MASK = "\ue000"
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_LETTER = re.compile(r"[^\W\d_]")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_DROPPED = re.compile(
    r"\s*(?:>(?!>)|\||\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL"
    r"|TRACE)\b[:\s\]]|\$ |>>> |\.\.\. |diff --git|@@ |\+\+\+ |--- |Traceback\b|[\w.]*(?:Error|Exception)\b:"
    r"|\[(?![ xX]\]|REDACTED)|\{\s*$|\}\s*$)"
)
_WROTE = re.compile(r"^On\b.{4,80}\bwrote:\s*$")
_HIDDEN = re.compile(
    r"`[^`\n]+`|\b[a-z][a-z0-9+.-]*://[^\s<>\"，。；）]+|\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|「[^」\n]{1,300}」"
    r"|『[^』\n]{1,300}』|《[^》\n]{1,120}》|«[^»\n]{1,300}»|(?<!\w)'[^'\n]{2,120}'(?!\w)|(?<!\w)‘[^’\n]{2,120}’(?!\w)",
    re.IGNORECASE,
)
_HIDING = re.compile(r"[`\"“「『《«]|://|(?<!\w)['‘]")  # a sign that each kind of hidden span begins with
_MARKER = re.compile(r"\s*(?:(?:[-*+–—•·]|\d{1,3}[.)]|[a-z]\))\s+)?(?:\[[ xX]\]\s+)?(?:\d{1,3}[、．]\s*)?", re.I)
_LIST = re.compile(r"\s*(?:[-*+–—•·]|\d{1,3}[.)])\s")
_END = re.compile(r"[.!?…。！？；;]+|\n")
_TITLES = frozenset(
    ("st", "dr", "mr", "mrs", "ms", "prof", "vs", "e.g", "i.e", "z.b", "bzw", "sr", "sra", "jr", "mt", "approx", "ca")
)
_BEFORE_CAPITAL = frozenset(("a.m", "p.m", "am", "pm", "etc", "inc", "ltd", "co", "u.s"))
_TRIM = " \t\n.,;:!?…。，；：！？、~～-–—"
_FORMS = str.maketrans("’‘＇`´", "'''''")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One clause of the user's; `words` is what patterns are matched against, from its subject on."""

    text: str  # the user's words, without list mark, leading connective and final stop
    words: str
    sentence: str  # the sentence it is cut from, as written
    number: int  # of the sentence, from 0
    language: str
    question: bool = False
    hedged: bool = False
    past: bool = False
    barred: bool = False
    subject: str = ""  # taken over from the clause before, and put before `words`


@dataclass(frozen=True, slots=True)
class Grammar:
    """The compiled clause rules of one language."""

    language: str
    is_cjk: bool
    hint: re.Pattern[str]
    cut: re.Pattern[str]
    lead: re.Pattern[str]
    prelude: re.Pattern[str]
    keep_joined: re.Pattern[str]
    inherit: str
    inherit_from: re.Pattern[str]
    inherit_not: re.Pattern[str]
    filters: dict[str, re.Pattern[str]]
    fold: dict[int, int]


@cache
def load_grammars() -> tuple[Grammar, ...]:
    """Return the grammar of each language that has statement rules."""
    return tuple(_grammar(table) for table in load_rules("statements").values())


@cache
def load_folding() -> dict[int, int]:
    """Return the table that folds letter variants (typographic apostrophes, traditional characters)."""
    folding: dict[int, int] = dict(_FORMS)
    for grammar in load_grammars():
        folding.update(grammar.fold)
    return folding


def has_cjk(text: str) -> bool:
    """Say whether Chinese, Japanese or Korean ideographs occur."""
    return _CJK.search(text) is not None


def fold(text: str) -> str:
    """Return `text` lower-cased and with letter variants folded, character for character."""
    if text.isascii():  # a replacement or two take a tenth of the time of a whole table
        for letter, plain in _ascii_folding():
            text = text.replace(letter, plain)
        return text.lower()
    folded = text.translate(load_folding())
    lowered = folded.lower()
    if len(lowered) == len(folded):
        return lowered
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in folded)


@cache
def _ascii_folding() -> tuple[tuple[str, str], ...]:
    return tuple((chr(code), chr(plain)) for code, plain in load_folding().items() if code < 128)


def mask(text: str) -> str:
    """Return `text` with addresses, inline code and quoted spans hidden, at the same length."""
    if not _HIDING.search(text):  # most texts: one look instead of a try at each character
        return text
    return _HIDDEN.sub(lambda match: MASK * len(match[0]), text)


@lru_cache(maxsize=64)  # several rooms ask about the message at hand
def drop_foreign(text: str) -> str:
    """Return only the lines of `text` that are the writer's own prose."""
    stripped = text.strip()
    if stripped[:1] in "{[" and stripped[-1:] in "}]" and re.match(r"[\[{]\s*[\"{\[\d\]}]", stripped):
        return ""
    kept: list[str] = []
    fence = ""
    after_log = False
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if mark:
            fence = mark[1]
            continue
        indented = line.startswith(("    ", "\t")) and not _LIST.match(line)
        after_log = (after_log and line[:1].isspace()) or _DROPPED.match(line) is not None
        if after_log or indented or _WROTE.match(line.strip()):
            continue
        kept.append(line)
    return "\n".join(kept)


def split_spans(masked: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, stop) of each sentence; `stop` is the mark that ends it, "" for a line end."""
    start = 0
    for match in _END.finditer(masked):
        if match.start() < start or not _ends(masked, match):
            continue
        yield start, match.start(), match[0].strip()
        start = match.end()
    if start < len(masked):
        yield start, len(masked), ""


def _ends(masked: str, match: re.Match[str]) -> bool:
    """Say whether this mark ends a sentence; only a lone dot is in doubt."""
    if match[0] != ".":
        return True
    after = masked[match.end() : match.end() + 1]
    if after and not after.isspace() and after not in "\"'”’)]」" and not _CJK.match(after):
        return False
    word = re.search(r"[\w.]*$", masked[max(0, match.start() - 12) : match.start()])
    before = word[0].lower().strip(".") if word else ""
    follow = masked[match.end() :].lstrip(" ")[:1]
    if before in _BEFORE_CAPITAL:
        return not follow or follow.isupper() or follow == "\n"
    if before in _TITLES or (len(before) == 1 and before.isalpha() and before != "i"):
        return not follow.strip()
    if before in {"no", "nr"}:
        return not follow.isdigit()
    return not (before.isdigit() and follow and masked[: match.start()].rsplit("\n", 1)[-1].strip() == before)


@lru_cache(maxsize=64)
def read_clauses(text: str) -> tuple[Clause, ...]:
    """Return the clauses of a user's message in order; of a very long one the beginning."""
    prose = drop_foreign(_shorten(text))
    if not prose.strip():
        return ()
    folded = fold(prose)
    if (end := find_material(folded)) is not None:
        prose, folded = prose[:end], folded[:end]
    masked = mask(prose)
    words = _hide(folded, masked)
    clauses: list[Clause] = []
    number = 0
    spans = split_spans(_open_quotes(masked, prose))
    for start, end, stop in _drop_orders(words, spans) if may_order(words) else spans:
        if not _LETTER.search(prose, start, end):
            continue
        for grammar in _grammars_for(words[start:end]):
            clauses += _read_sentence(prose[start:end], words[start:end], stop, number, grammar)
        number += 1
    return tuple(clauses)


def find_material(folded: str) -> int | None:
    """Return where a folded text hands over material ("translate: …"), None where it hands over none."""
    found = (grammar.filters["material"].match(folded) for grammar in load_grammars())
    return next((match.start() for match in found if match), None)


def hide_spans(prose: str) -> str:
    """Return what patterns are matched against: folded, with addresses, code and quotations hidden."""
    return _hide(fold(prose), mask(prose))


def _hide(folded: str, masked: str) -> str:
    if MASK not in masked:
        return folded
    return "".join(MASK if m == MASK else f for m, f in zip(masked, folded, strict=True))


def _drop_orders(words: str, spans: Iterator[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Yield sentences without "remember that" and the like: what the user orders to remember is said by them."""
    first = True
    for start, end, stop in spans:
        order = find_order(words, start, end, stop, first=first)
        first = False
        if order is None or order.command != REMEMBER or order.standing:
            yield start, end, stop
            continue
        if not order.trailing and order.head > start:
            yield start, order.head, ""
        yield order.start, order.end, "."
        if not order.trailing and len(words[order.end : end].strip(_TRIM)) > 1:
            yield order.end, end, stop


def _shorten(text: str) -> str:
    """Return the first `MAX_CHARS_READ` characters, up to the last sentence that is whole."""
    if len(text) <= MAX_CHARS_READ:
        return text
    head = text[:MAX_CHARS_READ]
    end = max(head.rfind(stop) for stop in ("\n", ". ", "。", "! ", "? "))
    return head[: end + 1] if end > 0 else head


def _open_quotes(masked: str, text: str) -> str:
    """Let a sentence end where a quotation ends with a stop and a capital follows."""
    return re.sub(
        rf"{MASK}(?=\s+[A-Z])",
        lambda match: "!" if match.start() and text[match.start() - 1] in ".!?" else MASK,
        masked,
    )


def _grammars_for(words: str) -> list[Grammar]:
    cjk = has_cjk(words)
    return [g for g in load_grammars() if g.is_cjk == cjk and g.hint.search(words)]


def _read_sentence(text: str, words: str, stop: str, number: int, grammar: Grammar) -> list[Clause]:
    """Return the clauses of one sentence."""
    skip = _MARKER.match(text)
    begin = skip.end() if skip else 0
    filters = grammar.filters
    body = words[begin:]
    barred = _is_barred(body, grammar)
    spans = [(s, e) for s, e in _cut(body, grammar, _heads(body, grammar)[1]) if _LETTER.search(body, s, e)]
    asks = "?" in stop or "？" in stop or filters["question_end"].search(body.rstrip()) is not None
    if asks and spans and (len(spans) == 1 or _is_tag(body[slice(*spans[-1])], grammar)):
        barred = barred or len(spans) > 1
        spans_ask = {len(spans) - 1} if len(spans) == 1 else set(range(len(spans)))
    else:
        spans_ask = {len(spans) - 1} if asks else set()
    clauses: list[Clause] = []
    subject = ""
    for index, (start, end) in enumerate(spans):
        shown, matched = _heads(body[start:end], grammar)
        core = body[start + matched : end].strip(_TRIM)
        inherits = bool(subject) and not grammar.inherit_not.match(core)
        if grammar.inherit_from.match(core):
            subject = grammar.inherit
        elif not inherits:
            subject = ""
        asked = index in spans_ask or _asks(body[start + shown : end].strip(_TRIM), grammar)
        if not asked and body[start + shown : start + matched].rstrip().endswith((",", "，")):
            asked = _asks(core, grammar)
        clauses.append(
            Clause(
                text=_trim(text[begin + start + shown : begin + end])[:300],
                words=(subject if inherits else "") + core,
                sentence=text[begin:].strip() + stop,
                number=number,
                language=grammar.language,
                question=asked,
                hedged=filters["hedge"].search(body, start, end) is not None,
                past=filters["past"].search(body, start, end) is not None,
                barred=barred,
                subject=subject if inherits else "",
            )
        )
    return clauses


def _is_barred(body: str, grammar: Grammar) -> bool:
    filters = grammar.filters
    opening = body[_heads(body, grammar)[0] :]
    if filters["supposition"].match(opening) or filters["supposition"].match(body.lstrip()):
        return True
    if filters["denial"].search(body) or filters["reported"].search(body):
        return True
    return filters["condition"].search(filters["softener"].sub(" ", body)) is not None


def _cut(body: str, grammar: Grammar, opening: int) -> list[tuple[int, int]]:
    """Return the spans of the clauses behind the opening; a joined subject ("my friends and I") is not cut."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in grammar.cut.finditer(body, opening):
        piece = body[max(start, opening) : match.start()].strip()
        joined = not match[0].lstrip().startswith(",") and grammar.keep_joined.match(piece) is not None
        if not piece or (joined and not re.match(r"(?:i|we)\b", piece)):
            if not piece:
                start = match.end()
            continue
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, len(body)))
    return spans


def _heads(words: str, grammar: Grammar) -> tuple[int, int]:
    """Return how many characters the connectives take, and those with times and places after them."""
    at = len(words) - len(words.lstrip())
    for _ in range(6):
        match = grammar.lead.match(words, at)
        if not match or match.end() == at:
            break
        at = match.end()
    shown = at
    for _ in range(3):
        match = grammar.prelude.match(words, at)
        if not match or match.end() == at or match.end() >= len(words.rstrip(_TRIM)):
            break
        at = match.end()
    return shown, at


def _asks(words: str, grammar: Grammar) -> bool:
    filters = grammar.filters
    if filters["question_in"].search(words):
        return True
    return filters["question_open"].match(words) is not None and not filters["not_question"].match(words)


def _is_tag(words: str, grammar: Grammar) -> bool:
    """Say whether a closing question has fewer than three words ("don't I?", 对吧)."""
    core = words.strip(_TRIM)
    if grammar.filters["own_question"].match(core):
        return False
    if grammar.filters["tag"].pattern != NEVER.pattern:
        return grammar.filters["tag"].match(core) is not None
    return len(core) < 4 if grammar.is_cjk else len(core.split()) < 3


def _trim(text: str) -> str:
    """Return a clause without outer blanks and stops; an unbalanced bracket or quote goes too."""
    line = re.sub(r"\s+", " ", text).strip(_TRIM)
    for opening, closing in ("()", "（）", "[]"):
        if line.startswith(opening) and closing not in line:
            line = line[1:].lstrip()
        if line.endswith(closing) and opening not in line:
            line = line[:-1].rstrip(_TRIM)
    return line


def _grammar(table: RuleTable) -> Grammar:
    filters = table.section("filters")
    clauses = table.section("clauses")
    folding = table.section("fold")
    names = (
        "material supposition denial condition softener reported past hedge"
        " question_open question_end question_in not_question tag own_question"
    )
    joined = clauses.text("keep_joined")
    return Grammar(
        language=table.text("language"),
        is_cjk=table.text("script") == "cjk",
        hint=table.pattern("hint"),
        cut=clauses.pattern("cut"),
        lead=clauses.pattern("lead"),
        prelude=clauses.pattern("prelude"),
        keep_joined=re.compile(joined or r"(?!)"),
        inherit=table.text("inherit"),
        inherit_from=re.compile(table.text("inherit_from") or r"(?!)"),
        inherit_not=re.compile(table.text("inherit_not") or r"(?!)"),
        filters={name: filters.pattern(name) for name in names.split()},
        fold=str.maketrans(folding.text("from"), folding.text("to")),
    )
