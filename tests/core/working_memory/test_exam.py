"""The memory exam: what it makes of models that can and cannot. The models are scripted."""

import asyncio
import itertools
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.catalogue.exam_results import ExamResults
from core.llm.host import ModelHost
from core.working_memory.exam import Exam
from core.working_memory.exam_questions import LANGUAGES, load_exam
from tests.core.scripted_chat import ScriptedModel

WORTH = {s.text for language in LANGUAGES for c in load_exam(language) for s in c.sentences if s.keep}


def take(model, **options):
    ticks = itertools.count()
    exam = Exam(model, clock=lambda: next(ticks) * 0.01, **options)
    return asyncio.run(exam.take(model_name="scripted.gguf", sha256="ab", at=1.0))


class Writing(ScriptedModel):
    """Writes the lines that are worth keeping."""

    async def generate(self, request, /):
        prompt = request.messages[-1].text
        lines = [text for text in WORTH if text in prompt]
        facts = "Key Facts" in prompt.splitlines()[-1]
        self.replies = [
            {"op": "APPEND", "items": lines if facts else ["这件事还没解决" if "用" in prompt else "Ask again"]}
        ]
        async for piece in super().generate(request):
            yield piece


def knows(question):
    return 0.9 if any(text in question for text in WORTH) else 0.05


def test_both_languages_have_their_own_conversations():
    for language in LANGUAGES:
        sentences = [s for conversation in load_exam(language) for s in conversation.sentences]
        assert {s.keep for s in sentences} == {True, False}
        material = load_exam(language)[0].material(context_tokens=2048)
        assert material.language == language
        assert all(s.text in "".join(material.user_texts) for s in load_exam(language)[0].sentences)


def test_model_that_writes_well_may_write():
    result = take(Writing())
    assert (result.verdict, result.valid_calls, result.supported_items) == ("write", 1.0, 1.0)


def test_model_that_cannot_write_but_chooses_well_is_used_to_choose():
    result = take(ScriptedModel(*['{"op": "UPDATE", "content": "1.1.1.1.1.1.1'] * 4, choose=knows))
    assert result.verdict == "select"
    assert "en:keep" in result.useful
    assert result.kept_f1 > result.kept_f1_ranked > 0
    assert result.valid_calls == 0.0


def test_model_without_an_opinion_is_not_used():
    result = take(ScriptedModel(*["1"] * 4))
    assert (result.verdict, result.useful) == ("off", ())
    assert "no better than the program alone" in result.sentence


def test_model_that_broke_a_call_is_not_made_to_write_in_the_other_language_too():
    hopeless, fine = ScriptedModel(*["1"] * 4), Writing()
    take(hopeless)
    take(fine)
    assert (len(hopeless.requests), len(fine.requests)) == (2, 4)


def test_model_that_contradicts_everything_is_not_used():
    result = take(ScriptedModel(*["1"] * 4, choose=lambda question: 1 - knows(question)))
    assert result.verdict == "off"


def test_exam_ends_when_its_time_is_over_and_says_so():
    result = take(ScriptedModel(*["1"] * 4, choose=knows), limit_s=0.0)
    assert (result.verdict, result.complete) == ("off", False)
    assert "slow" in result.sentence.lower()


def test_what_takes_thought_is_done_in_the_pool():
    threads = []

    def rank(sentences):
        threads.append(threading.current_thread().name)
        return [0.0] * len(sentences)

    with ThreadPoolExecutor(1, thread_name_prefix="thought") as pool:
        take(ScriptedModel(*["1"] * 4), rank=rank, pool=pool, languages=("en",))
    assert threads
    assert all(name.startswith("thought") for name in threads)


def test_result_is_kept_by_the_files_content(tmp_path):
    first, copy, other = (tmp_path / name for name in ("a.gguf", "b.gguf", "c.gguf"))
    first.write_bytes(b"weights")
    copy.write_bytes(b"weights")
    other.write_bytes(b"other weights")
    results = ExamResults(tmp_path / "models")
    exam = Exam(ScriptedModel(*["1"] * 4), clock=lambda: 0.0, languages=("en",))
    result = asyncio.run(exam.take(model_name="a.gguf", sha256=results.hash(first), at=1.0))
    results.save(result)
    again = ExamResults(tmp_path / "models")
    assert again.load(first) == again.load(copy) == result
    assert again.load(other) is None
    first.write_bytes(b"changed weights")
    assert again.load(first) is None


def test_damaged_results_cost_another_exam_only(tmp_path):
    model = tmp_path / "a.gguf"
    model.write_bytes(b"weights")
    for text in ("", "{", "[]", '{"files": 3}', json.dumps({"version": 1, "files": {}, "results": {"x": 1}})):
        (tmp_path / "exams.json").write_text(text)
        assert ExamResults(tmp_path).load(model) is None


@pytest.mark.model
@pytest.mark.slow
def test_bundled_model_takes_a_part_of_the_exam(chat_model):
    async def run():
        host = ModelHost(chat_model, context_tokens=2048)
        try:
            exam = Exam(host, clock=asyncio.get_running_loop().time, languages=("en",), limit_s=0.0)
            return await exam.take(model_name=chat_model.name, sha256="x", at=0.0)
        finally:
            await host.aclose()

    result = asyncio.run(run())
    assert result.verdict != "write"
    assert result.tokens_per_s > 0
