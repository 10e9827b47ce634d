"""Answers held to a form, and questions with a few answers, asked of the real model."""

import asyncio
import json

import pytest

from core.errors import ModelError
from core.llm.grammars import translate_schema
from core.llm.host import ModelHost
from core.llm.port import (
    ChatMessage,
    ChoiceRequest,
    GenerationPiece,
    GenerationRequest,
    GrammarError,
    PromptTooLongError,
)

SCHEMA = {
    "type": "object",
    "properties": {
        "colour": {"enum": ["red", "blue"]},
        "maxLength": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 12}, "maxItems": 3},
    },
    "required": ["colour", "maxLength"],
}
DOCUMENT = "Anna lives in Lyon and works as a nurse. Ben bought a red bicycle. " * 8


@pytest.fixture
def with_host(chat_model):
    """Run a function of a started host, for a minute at most."""

    def run(use):
        async def main():
            host = ModelHost(chat_model)
            try:
                await asyncio.wait_for(use(host), 60)
            finally:
                await host.aclose()

        asyncio.run(main())

    return run


async def write(host, text, **options):
    request = GenerationRequest(messages=(ChatMessage("user", text),), temperature=0.0, **options)
    return "".join([a.text async for a in host.generate(request) if isinstance(a, GenerationPiece)])


def question(text, *choices):
    return ChoiceRequest(
        messages=(ChatMessage("system", DOCUMENT), ChatMessage("user", text)), choices=choices, conversation="memory"
    )


@pytest.mark.model
@pytest.mark.slow
def test_an_answer_keeps_to_its_schema_and_the_next_one_is_free(with_host):
    async def use(host):
        schema = json.dumps(SCHEMA)
        for text in ("Describe your bicycle.", "My bicycle is red."):  # the second one uses what was compiled
            answer = json.loads(await write(host, text, json_schema=schema, max_tokens=200))
            assert answer["colour"] in {"red", "blue"}
            assert isinstance(answer["maxLength"], int)
        assert not (await write(host, "Say hello.", max_tokens=12)).startswith("{")

    with_host(use)


@pytest.mark.model
@pytest.mark.slow
def test_an_answer_keeps_to_a_grammar(with_host):
    async def use(host):
        assert await write(host, "Hello!", grammar='root ::= "meow" (" purr" | " hiss")') in {"meow purr", "meow hiss"}

    with_host(use)


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.parametrize(
    "form", [{"grammar": "root = nonsense ::"}, {"grammar": 'other ::= "x"'}, {"json_schema": "{"}]
)
def test_a_form_that_does_not_compile_is_said_and_the_host_goes_on(with_host, form):
    async def use(host):
        with pytest.raises(GrammarError, match="Nothing was generated"):
            await write(host, "Hello!", **form)
        assert await write(host, "Hello!", max_tokens=4)

    with_host(use)


@pytest.mark.parametrize("schema", ["[]", '{"type": "mystery"}', '{"$ref": "#/nowhere"}', '{"$ref": "https://x.org"}'])
def test_schemas_that_are_none_are_said(schema):
    with pytest.raises(GrammarError):
        translate_schema(schema)


def test_bounds_do_not_reach_the_grammar_but_properties_of_their_names_do():
    grammar = translate_schema(json.dumps(SCHEMA))
    assert "{0,12}" not in grammar
    assert "{0,2}" not in grammar
    assert "maxLength" in grammar


@pytest.mark.model
@pytest.mark.slow
def test_choices_get_probabilities_and_share_the_prompts_work(with_host):
    async def use(host):
        first = await host.choose(question("Where does Anna live?", "Lyon", "London", "a red bicycle"))
        assert sum(first.probabilities) == pytest.approx(1.0)
        assert first.probabilities[0] == max(first.probabilities)
        second = await host.choose(question("Who bought a bicycle?", "Anna", "Ben"))
        assert second.reused_tokens >= 0.8 * second.prompt_tokens
        again = await host.choose(question("Who bought a bicycle?", "Ben", "Anna"))
        assert again.reused_tokens == again.prompt_tokens - 1
        # one token read alone and many at once are computed by other kernels: the same but for rounding
        assert again.probabilities == pytest.approx(second.probabilities[::-1], abs=0.03)

    with_host(use)


@pytest.mark.model
@pytest.mark.slow
def test_an_unlike_answer_added_keeps_the_others_ratio(with_host):
    async def use(host):
        await host.choose(question("Is Anna a nurse?", "Yes", "No"))  # read alike from here: rounding depends on it
        two = await host.choose(question("Is Anna a nurse?", "Yes", "No"))
        three = await host.choose(question("Is Anna a nurse?", "Yes", "No", "No one can tell"))
        yes, no, no_one = three.probabilities
        assert yes / (no + no_one) == pytest.approx(two.probabilities[0] / two.probabilities[1], rel=0.001)
        assert 0 < no_one < no

    with_host(use)


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.parametrize("choices", [("yes",), ("yes", "yes"), ("yes", ""), ()])
def test_questions_without_two_answers_are_refused(with_host, choices):
    async def use(host):
        with pytest.raises(ModelError, match="two or more"):
            await host.choose(question("Well?", *choices))

    with_host(use)


@pytest.mark.model
@pytest.mark.slow
def test_a_question_that_does_not_fit_is_refused(with_host):
    async def use(host):
        with pytest.raises(PromptTooLongError):
            await host.choose(question("word " * 6000, "yes", "no"))

    with_host(use)
