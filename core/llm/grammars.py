"""Grammars that hold an answer to a form: from a JSON schema or GBNF, compiled once, cloned for each answer.

Relies on llama.cpp's grammar sampler and llama-cpp-python's translation of schemas. Runs in the model process only.
"""

import json
from typing import Any

from llama_cpp import llama_cpp as native
from llama_cpp.llama_grammar import json_schema_to_gbnf

from core.llm.port import GrammarError

KEPT_GRAMMARS = 64
# Bounds unroll into rules by the hundred and make every token slow; whoever asked checks them on the whole answer.
_BOUNDS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "pattern", "uniqueItems"})
_NAMED_SCHEMAS = frozenset({"properties", "$defs", "definitions", "patternProperties"})  # their keys are names


class Grammars:
    """Compiled grammars of one vocabulary."""

    def __init__(self, vocab: int) -> None:
        """`vocab` is llama.cpp's pointer."""
        self._vocab = vocab
        self._compiled: dict[tuple[str, str], int] = {}

    def make_sampler(self, *, json_schema: str, grammar: str) -> int:
        """Return a sampler at the grammar's beginning; the caller frees it. Raises `GrammarError`."""
        key = (json_schema, grammar)
        if key not in self._compiled:
            if len(self._compiled) >= KEPT_GRAMMARS:
                oldest = next(iter(self._compiled))
                native.llama_sampler_free(self._compiled.pop(oldest))
            self._compiled[key] = self._compile(translate_schema(json_schema) if json_schema else grammar)
        return native.llama_sampler_clone(self._compiled[key])

    def close(self) -> None:
        """Free all compiled grammars."""
        while self._compiled:
            native.llama_sampler_free(self._compiled.popitem()[1])

    def _compile(self, grammar: str) -> int:
        sampler = native.llama_sampler_init_grammar(self._vocab, grammar.encode("utf-8", "replace"), b"root")
        if not sampler:
            raise GrammarError("it is no valid GBNF with a rule `root`")
        return sampler


def translate_schema(json_schema: str) -> str:
    """Return the GBNF of a JSON schema, without its bounds on lengths; raise `GrammarError` where there is none."""
    try:
        return json_schema_to_gbnf(json.dumps(_drop_bounds(json.loads(json_schema))))
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError, RecursionError) as error:
        raise GrammarError(f"the JSON schema cannot be made into one: {error or type(error).__name__}") from error


def _drop_bounds(schema: Any, *, names: bool = False) -> Any:
    if isinstance(schema, list):
        return [_drop_bounds(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value if key in {"enum", "const"} and not names else _drop_bounds(value, names=key in _NAMED_SCHEMAS)
        for key, value in schema.items()
        if names or key not in _BOUNDS
    }
