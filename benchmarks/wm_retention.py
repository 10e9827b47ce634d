"""What is left of memory under six models: the bundled one and five scripted ones that misbehave.

    python -m benchmarks.wm_retention [--data DIR] [--files N] [--bundled-commits N] [--json]

Conversations (LoCoMo, MemoryBank) are replayed turn by turn with a commit every 2,000 tokens, by heuristics,
update, merge and guards as in the program, without a window or store. The models called forgetful, degenerate,
careless, injected and eager are scripts (benchmarks/scripted_models.py), not models. After every commit is counted:
items of Key Facts, Files, Errors and Open Issues that are gone without being said anew, closed or parked; lines with
names, numbers or paths that nobody said; lines that say the opposite of what was said; documents over 12,000
tokens; lines without evidence. Floor: the same run with checks and guards off, where the model's word counts.
`wm_full_merge_ms` is a full document (50 items a section), every section reworded by lines that were read before, as
they are when an update that was checked is merged; `wm_full_merge_first_ms` the same by lines never seen; floor:
parsing and rendering it. Both in processor time.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.common import ROOT, Measure, make_parser, print_result, say
from benchmarks.scripted_models import SCRIPTED, Injected, ScriptedModel
from benchmarks.transcripts import find_transcripts, load_turns
from core.llm.host import ModelHost
from core.llm.port import ChatModel
from core.model import SaidTurn, Section, TurnId
from core.redaction import redact
from core.sessions.fold import fold, gather_known, read_proposals
from core.storage.memory_versions import PendingLine, Version
from core.text.anchors import is_covered
from core.text.evidence import check_evidence
from core.text.items import extract_items
from core.text.keys import is_resolved, item_key
from core.text.language import detect_language
from core.text.tokens import estimate_tokens
from core.working_memory.bodies import add_items
from core.working_memory.document import EMPTY, parse_document, render_document
from core.working_memory.growth import DOCUMENT_TOKENS
from core.working_memory.heuristics import TurnText, propose
from core.working_memory.material import Material, QuotedMessage, Update
from core.working_memory.merge import merge
from core.working_memory.update import Mode, Updater, propose_without_model

COMMIT_TOKENS = 2_000
INJECT_EVERY = 12  # turns, for the model that obeys
PROTECTED = (Section.FACTS, Section.FILES, Section.ERRORS, Section.ISSUES)
COUNTED = ("items_lost", "invented", "flipped", "over_ceiling", "without_evidence")  # one metric each
BUNDLED = ROOT / "resources" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"


@dataclass(slots=True)
class Count:
    """What was seen after the commits of one run."""

    commits: int = 0
    items_lost: int = 0
    invented: int = 0
    flipped: int = 0
    over_ceiling: int = 0
    without_evidence: int = 0
    largest_tokens: int = 0
    model_lines: int = 0
    dropped: int = 0
    first_losses: list[str] = field(default_factory=list)

    def add(self, other: "Count") -> None:
        """Add the counts of another conversation."""
        for name in (*COUNTED, "commits", "model_lines", "dropped"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.largest_tokens = max(self.largest_tokens, other.largest_tokens)
        self.first_losses += other.first_losses[: max(0, 8 - len(self.first_losses))]


@dataclass(slots=True)
class Chat:
    """One conversation as far as it was replayed."""

    language: str = "en"
    version: Version | None = None
    pending: list[PendingLine] = field(default_factory=list)
    messages: list[QuotedMessage] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)  # everything, for the check of inventions
    noticed: set[str] = field(default_factory=set)  # keys of the heuristics' lines
    bare: str = ""  # the document without guards

    def take(self, turn: TurnId, said: SaidTurn) -> None:
        """Read one turn."""
        user, reply = redact(said.user_text), redact(said.reply_text)
        self.language = detect_language(user, self.language)
        known = gather_known(self.version, self.pending, recent_user_texts=self.users[-3:], language=self.language)
        for proposal in propose(TurnText(turn=turn, at=said.user_at, user=user, reply=reply), known):
            line = PendingLine(
                id=0, turn=turn, section=proposal.section, text=proposal.text, replaces=proposal.replaces
            )
            self.pending.append(line)
            self.noticed.add(item_key(proposal.text))
        self.users.append(user)
        self.said += [user, reply]
        for role, text in (("user", user), ("assistant", reply)):
            if text:
                self.messages.append(QuotedMessage(id=len(self.said), turn=turn, role=role, text=text))

    def material(self) -> Material:
        """Return what a commit would archive now."""
        before = self.version
        return Material(
            document=before.document if before else "",
            parked={Section(name): lines for name, lines in before.parked.items()} if before else {},
            messages=tuple(self.messages),
            proposals=read_proposals(self.pending),
            language=self.language,
            user_texts=tuple(message.text for message in self.messages if message.role == "user"),
            lines=dict(before.lines) if before else {},
        )

    def commit(self, update: Update) -> Version:
        """Fold an update in."""
        users = [message.text for message in self.messages if message.role == "user"]
        folded = fold(self.version, update, self.pending, user_texts=users, cause="", archive=1, at=0.0)
        self.version = folded.version
        self.pending, self.messages = [], []
        return folded.version


async def replay(
    turns: Sequence[SaidTurn],
    model: ChatModel,
    mode: Mode,
    *,
    most_commits: int | None = None,
    commit_tokens: int = COMMIT_TOKENS,
) -> Count:
    """Replay one conversation with guards."""
    chat, count = Chat(), Count()
    updater = Updater(model, mode, pause=_no_pause)
    for _ in _fill(chat, _inject(turns, model), commit_tokens):
        material = chat.material()
        noticed = [line for line in chat.pending if line.replaces is None]
        if isinstance(model, ScriptedModel):
            model.material = material
        update = await updater.propose(material)
        before = chat.version
        after = chat.commit(update)
        count.commits += 1
        count.model_lines += len(update.model_lines)
        count.dropped += len(update.dropped)
        parked = [line.text for lines in after.parked.values() for line in lines]
        _count_losses(before.document if before else "", noticed, after.document, parked, count)
        _count_lies(after.document, chat, model, count)
        count.without_evidence += sum(
            not line.turns for lines in after.lines.values() for line in lines if line.state.value != "removed"
        )
        if most_commits is not None and count.commits >= most_commits:
            break
    return count


async def replay_bare(turns: Sequence[SaidTurn], model: ScriptedModel, *, commit_tokens: int = COMMIT_TOKENS) -> Count:
    """Replay one conversation with checks and guards off: what the model asks is done."""
    chat, count = Chat(), Count()
    for _ in _fill(chat, _inject(turns, model), commit_tokens):
        before = chat.bare
        model.material = Material(document=before, messages=tuple(chat.messages))
        noticed = [line for line in chat.pending if line.replaces is None]
        chat.bare = _obey(before, model.raw(), propose_without_model(chat.material()))
        chat.pending, chat.messages = [], []
        count.commits += 1
        _count_losses(before, noticed, chat.bare, (), count)
        _count_lies(chat.bare, chat, model, count)
    return count


def _fill(chat: Chat, turns: Iterator[SaidTurn], commit_tokens: int) -> Iterator[None]:
    """Tell a conversation turn by turn; yields whenever a commit is due."""
    for number, said in enumerate(turns, start=1):
        chat.take(TurnId(number), said)
        if sum(estimate_tokens(message.text) for message in chat.messages) >= commit_tokens:
            yield


def _obey(document: str, operations: dict[Section, dict[str, object]], noticed: Update) -> str:
    """Do what the model asks, with what the heuristics noticed below where it leaves a section alone."""
    bodies = dict(parse_document(document).bodies)
    for section in Section:
        asked = operations.get(section, {"op": "KEEP"})
        code = noticed.operations[section.value]
        for operation in (code, asked):
            if not isinstance(operation, dict):
                continue
            if operation["op"] == "UPDATE":
                bodies[section] = str(operation["content"])
            elif operation["op"] == "APPEND":
                bodies[section] = add_items(bodies[section], [str(item) for item in operation["items"]])
    return render_document(EMPTY.with_bodies(bodies))


def _inject(turns: Sequence[SaidTurn], model: ChatModel) -> Iterator[SaidTurn]:
    """The turns, with the order to wipe memory in every twelfth reply for the model that obeys it."""
    for number, said in enumerate(turns, start=1):
        if isinstance(model, Injected) and number % INJECT_EVERY == 0:
            yield SaidTurn(
                source_key=said.source_key,
                user_text=said.user_text,
                user_at=said.user_at,
                reply_text=f"{said.reply_text}\n{Injected.ORDER}",
                reply_at=said.reply_at,
            )
        else:
            yield said


def _count_losses(before: str, noticed: Sequence[PendingLine], after: str, parked: Sequence[str], count: Count) -> None:
    """Count protected lines that were there, or waited to enter, and are neither said nor parked afterwards."""
    old, new = parse_document(before), parse_document(after)
    everything = [*(item for body in new.bodies.values() for item in extract_items(body)), *parked]
    keys = {item_key(item) for item in everything}
    for section in PROTECTED:
        waited = [line.text for line in noticed if line.section is section]
        for item in (*extract_items(old.bodies[section]), *waited):
            if item_key(item) in keys or (section is Section.ISSUES and is_resolved(item)):
                continue
            if not is_covered(item, everything):
                count.items_lost += 1
                count.first_losses.append(f"{section.value}: {item}")
    tokens = estimate_tokens(after)
    count.largest_tokens = max(count.largest_tokens, tokens)
    count.over_ceiling += tokens > DOCUMENT_TOKENS


def _count_lies(document: str, chat: Chat, model: ChatModel, count: Count) -> None:
    """Count lines that nobody said and lines that were turned round, once a document that holds them.

    What the injected text itself says was said, by nobody who may: it counts as invented.
    """
    flipped = {item_key(line) for line in model.flipped} if isinstance(model, ScriptedModel) else set()
    said = [text.replace(Injected.ORDER, "") for text in chat.said]
    spoken = {item_key(text) for text in said}
    for body in parse_document(document).bodies.values():
        for item in extract_items(body):
            key = item_key(item)
            if key in chat.noticed:
                continue
            if key in flipped and key not in spoken:
                count.flipped += 1
                count.first_losses.append(f"turned round: {item}")
            if not check_evidence(item, said).supported:
                count.invented += 1
                count.first_losses.append(f"invented: {item}")


async def _no_pause(seconds: float) -> None:
    """Wait for nobody: a script does not recover by waiting."""


def make_full_document() -> tuple[str, dict[str, object]]:
    """Return a document with 50 items a section, and an update that rewords every one."""
    people = ("Naomi", "Petra", "Omar", "Lena", "Jonas", "Tom", "Agnes", "Ilse")
    forms = {
        Section.STATE: ("Step {i}: {who} checks {n} until {day}", "Step {i}: {who} is checking {n} until {day}"),
        Section.GOALS: ("Ship part {i} before {day} with {who}", "Deliver part {i} before {day} with {who}"),
        Section.FACTS: ("{who} decided that host {i} has port {n}", "{who} agreed that host {i} gets port {n}"),
        Section.FILES: ("src/pay/part_{i}.py handles retries", "src/pay/part_{i}.py deals with retries"),
        Section.ERRORS: ("Used region eu-west-{i} in batch {n}", "Took region eu-west-{i} in batch {n}"),
        Section.ISSUES: ("Who reviews ticket PAY-{n} about refunds?", "Who will review ticket PAY-{n} about refunds?"),
    }  # fmt: skip

    def write(form: str) -> str:
        days = [f"2026-{i % 12 + 1:02}-{i % 27 + 1:02}" for i in range(50)]
        return "\n".join(
            "- " + form.format(i=i, n=6000 + 7 * i, who=people[i % 8], day=day) for i, day in enumerate(days)
        )

    bodies = {Section.TITLE: "Billing migration"} | {section: write(old) for section, (old, _) in forms.items()}
    contents = {Section.TITLE: "Migration of the billing"} | {
        section: write(new) for section, (_, new) in forms.items()
    }
    operations: dict[str, object] = {
        section.value: {"op": "UPDATE", "content": content} for section, content in contents.items()
    }
    return render_document(EMPTY.with_bodies(bodies)), operations


def measure_full_merge(rounds: int = 30) -> tuple[Measure, Measure]:
    """Time the merge of the full document, with lines read before and with new ones, and parsing and rendering it.

    The best of some rounds, in ms of a processor.
    """
    document, operations = make_full_document()
    floor: list[float] = []
    again: list[float] = []
    first: list[float] = []
    for number in range(rounds):
        begun = time.process_time()
        render_document(parse_document(document))
        floor.append((time.process_time() - begun) * 1000)
        unseen = _change_words(operations, number)
        for update, times in ((unseen, first), (operations, again)):
            begun = time.process_time()
            merge(document, update)
            times.append((time.process_time() - begun) * 1000)
    parsing = min(floor)
    return Measure(floor=parsing, ours=min(again[1:] or again)), Measure(floor=parsing, ours=min(first))


def _change_words(operations: dict[str, object], number: int) -> dict[str, object]:
    """The same update in other words each time, with all names and numbers in place."""
    text = json.dumps(operations)
    word = "".join("abcdefghij"[int(digit)] for digit in str(number))
    for verb in ("checking", "Deliver", "agreed", "deals", "Took", "review"):
        text = text.replace(verb, f"{verb}{word}")
    changed: dict[str, object] = json.loads(text)
    return changed


async def run(args: argparse.Namespace, folder: Path) -> dict[str, Measure]:
    """Measure everything that can be measured."""
    measures: dict[str, Measure] = {}
    measures["wm_full_merge_ms"], measures["wm_full_merge_first_ms"] = measure_full_merge()
    files = find_transcripts(args.data, folder)
    if not files:
        say(f"Skipped: there is no chat to replay below {args.data}.")
    for name in ("locomo", "memorybank"):
        chats = [list(load_turns([file])) for file in files if file.name.startswith(name)][: args.files]
        for kind in SCRIPTED:
            guarded, bare = Count(), Count()
            for turns in chats:
                guarded.add(await replay(turns, kind(), kind.mode))
                bare.add(await replay_bare(turns, kind()))
            _report(f"{name}_{kind.name}", guarded, bare, measures, quiet=args.json)
        if chats and args.bundled_commits and BUNDLED.exists():
            _report(f"{name}_bundled", await _run_bundled(chats, args), Count(), measures, quiet=args.json)
    return measures


async def _run_bundled(chats: Sequence[Sequence[SaidTurn]], args: argparse.Namespace) -> Count:
    """Replay the first conversation with the bundled model choosing, whatever its exam says of it."""
    host = ModelHost(BUNDLED, context_tokens=2048)
    try:
        return await replay(chats[0], host, "select", most_commits=args.bundled_commits)
    finally:
        await host.aclose()


def _report(name: str, ours: Count, floor: Count, measures: dict[str, Measure], *, quiet: bool) -> None:
    if not ours.commits:
        return
    for key in COUNTED:
        bare = float(getattr(floor, key)) if floor.commits and key != "without_evidence" else None
        measures[f"{name}_{key}"] = Measure(floor=bare, ours=float(getattr(ours, key)))
    measures[f"{name}_largest_tokens"] = Measure(
        floor=float(floor.largest_tokens) if floor.commits else None, ours=float(ours.largest_tokens)
    )
    if not quiet:
        lines = f"{ours.model_lines} lines of the model let in, {ours.dropped} kept out"
        print(f"{name}: {ours.commits} commits, {lines}")
        for text in ours.first_losses[:8]:
            print(f"    {json.dumps(text[:160], ensure_ascii=False)}")


def main() -> int:
    """Print what is left of memory."""
    parser = make_parser(__doc__)
    parser.add_argument("--files", type=int, default=None, help="replay only the first N transcripts of a set")
    parser.add_argument("--bundled-commits", type=int, default=4, help="commits with the bundled model, 0: none")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="keepsake-retention-") as folder:
        measures = asyncio.run(run(args, Path(folder)))
    print_result(measures, json_only=args.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
