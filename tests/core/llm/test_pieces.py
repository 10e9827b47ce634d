"""Words of an answer on their way out of the model process: few frames, and nothing lost. Scripted answers."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.frames import read_frame
from core.llm.pieces import EVERY_S, Pieces
from core.llm.port import GenerationEnd

CHAT, BACKGROUND = 0, 10


class Line:
    """Frames that were sent, and a clock that stands until it is moved."""

    def __init__(self, *, show_thinking=False):
        self.now_s = 100.0
        self.frames = []
        self.pieces = Pieces(
            lambda **frame: self.frames.append(frame), 7, show_thinking=show_thinking, clock=lambda: self.now_s
        )

    def say(self, *texts, thought=False, after_s=0.0):
        for text in texts:
            self.now_s += after_s
            self.pieces.add(text, thought=thought)

    @property
    def told(self):
        return [(frame.get("text", frame["op"]), frame.get("thought", False)) for frame in self.frames]


def test_the_first_words_go_at_once_and_later_ones_in_bundles():
    line = Line()
    line.say("One")
    assert line.told == [("One", False)]
    line.say(" two", " three", after_s=EVERY_S / 4)
    assert len(line.frames) == 1
    line.say(" four", after_s=EVERY_S)
    assert line.told == [("One", False), (" two three four", False)]


def test_what_waits_is_sent_at_the_end_once():
    line = Line()
    line.say("One", " two")
    line.pieces.flush()
    line.pieces.flush()
    assert line.told == [("One", False), (" two", False)]
    assert all(frame["op"] == "piece" and frame["id"] == 7 for frame in line.frames)


def test_a_thought_that_nobody_reads_is_a_sign_as_seldom_as_words_are_sent():
    line = Line()
    line.say(*["hm"] * 100, thought=True, after_s=EVERY_S / 10)
    assert line.told[0] == ("thinking", False)
    assert 9 <= len(line.frames) <= 11
    assert {frame["op"] for frame in line.frames} == {"thinking"}
    line.say("Yes")
    assert line.told[-1] == ("Yes", False)  # the first words wait for no sign


def test_thoughts_that_are_read_never_share_a_frame_with_the_answer():
    line = Line(show_thinking=True)
    line.say("Let me", " see", thought=True)
    line.say("It is", " four")
    line.pieces.flush()
    assert line.told == [("Let me", True), (" see", True), ("It is four", False)]


@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=3), st.booleans(), st.floats(0, 2 * EVERY_S)), max_size=30),
    st.booleans(),
)
def test_words_arrive_whole_in_order_and_as_what_they_are(said, show_thinking):
    line = Line(show_thinking=show_thinking)
    for text, thought, after_s in said:
        line.say(text, thought=thought, after_s=after_s)
    line.pieces.flush()
    wanted = [(c, thought) for text, thought, _ in said for c in text if show_thinking or not thought]
    came = [(c, f["thought"]) for f in line.frames if f["op"] == "piece" for c in f["text"]]
    assert came == wanted


class Answers:
    """Answers by a script: words, thoughts (in brackets), and things that happen in between."""

    def __init__(self, scripts):
        self.scripts = scripts  # by what the request's message says

    def generate(self, request, turn):
        from core.llm.answers import Piece

        for step in self.scripts[request.messages[0].text]:
            if callable(step):
                step()
            elif turn.cancelled:
                return ended("cancelled")
            else:
                yield Piece(step.strip("[]"), thought=step.startswith("["))
        return ended("stop")

    def release(self):
        pass


class Rest:
    """What stands in for model and prefixes: at the first quiet moment the worker is told to end."""

    def __init__(self):
        self.unsaved = False
        self.schedule = None

    def restore_chat(self):
        self.schedule.stop()

    def save(self):
        pass

    def clear_abort(self):
        pass


def ended(reason):
    return GenerationEnd(
        finish_reason=reason, prompt_tokens=1, reused_tokens=0, new_tokens=1, prompt_s=0.0, generation_s=0.0,
        context_used_tokens=2,
    )  # fmt: skip


@pytest.fixture
def worker():
    """Run a worker on scripts until it is quiet; returns the frames it sent."""
    pytest.importorskip("llama_cpp")
    from core.llm.schedule import Schedule, Task
    from core.llm.worker import Link, Worker

    class Desk:
        def __init__(self):
            self.schedule = Schedule(interrupt=lambda: None, clear=lambda: None)

        def ask(self, number, text, priority=CHAT, **given):
            frame = {"op": "generate", "messages": [{"role": "user", "text": text}], **given}
            self.schedule.put(Task(number, priority, frame))

        def run(self, **scripts):
            out, rest = io.BytesIO(), Rest()
            rest.schedule = self.schedule
            Worker(rest, Answers(scripts), rest, self.schedule, Link(io.BytesIO(), out)).run()
            out.seek(0)
            return list(iter(lambda: read_frame(out), None))

    return Desk()


def words(frames, number):
    return "".join(frame["text"] for frame in frames if frame["op"] == "piece" and frame["id"] == number)


def test_an_answer_is_whole_before_its_end_is_told(worker):
    worker.ask(1, "count")
    frames = worker.run(count=["One", " two", " three"])
    assert words(frames, 1) == "One two three"
    assert (frames[-1]["op"], frames[-1]["finish_reason"]) == ("end", "stop")


def test_words_before_a_more_urgent_request_go_before_its_own_and_the_rest_follows(worker):
    worker.ask(1, "slow", BACKGROUND)
    frames = worker.run(
        slow=["One", " two", lambda: worker.ask(2, "urgent"), " three", " four"], urgent=["Now", " then"]
    )
    assert (words(frames, 1), words(frames, 2)) == ("One two three four", "Now then")
    first_urgent = next(i for i, frame in enumerate(frames) if frame["id"] == 2)
    assert words(frames[:first_urgent], 1) == "One two three"
    assert [frame["id"] for frame in frames if frame["op"] == "end"] == [2, 1]


def test_words_before_an_error_are_kept(worker):
    def fail():
        raise RuntimeError("the device is lost")

    worker.ask(1, "count")
    frames = worker.run(count=["One", " two", " three", fail])
    assert words(frames, 1) == "One two three"
    assert (frames[-1]["op"], frames[-1]["reason"]) == ("error", "the device is lost")


def test_words_before_a_cancellation_are_kept(worker):
    worker.ask(1, "count")
    frames = worker.run(count=["One", " two", lambda: worker.schedule.cancel(1), " three"])
    assert words(frames, 1) == "One two"
    assert (frames[-1]["op"], frames[-1]["finish_reason"]) == ("end", "cancelled")


def test_a_request_that_was_interrupted_and_then_cancelled_keeps_its_words(worker):
    worker.ask(1, "slow", BACKGROUND)
    frames = worker.run(
        slow=["One", " two", lambda: worker.ask(2, "urgent"), " three", " four"],
        urgent=["Now", lambda: worker.schedule.cancel(1)],
    )
    assert words(frames, 1) == "One two three"
    assert words(frames, 2) == "Now"


@pytest.mark.parametrize(("shown", "thoughts"), [(True, "Let me see"), (False, "")])
def test_thought_and_answer_are_told_apart(worker, shown, thoughts):
    worker.ask(1, "think", show_thinking=shown)
    frames = worker.run(think=["[Let me]", "[ see]", "Four", " of them"])
    pieces = [frame for frame in frames if frame["op"] == "piece"]
    assert "".join(f["text"] for f in pieces if f["thought"]) == thoughts
    assert "".join(f["text"] for f in pieces if not f["thought"]) == "Four of them"
    assert any(frame["op"] == "thinking" for frame in frames) is not shown
