"""Tool calls in a model's text: found in the forms that common model families write, repaired, checked. Pure.

Known forms: Hermes and Qwen (`<tool_call>{...}</tool_call>`), Llama 3 (`<|python_tag|>{...}; {...}`,
`<function=name>{...}</function>` or a bare object), Mistral (`[TOOL_CALLS] [...]`, `[TOOL_CALLS]name[ARGS]{...}`), and
lists as OpenAI's interface has them, each also within a code fence or cut off at the end. A model's control tokens may
be missing from its text, so a bare object that names a known tool is a call too. Thoughts are no place for calls.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.llm.thinking import strip_thinking

_TOOL_CALL = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|(?=<tool_call>)|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^>\s]+)>\s*(.*?)\s*(?:</function>|(?=<function=)|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\s]+)>\s*(.*?)\s*(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)
_PYTHON_TAG = re.compile(r"<\|python_tag\|>\s*(.*?)\s*(?:<\|eom_id\|>|<\|eot_id\|>|\Z)", re.DOTALL)
_MISTRAL_NAMED = re.compile(
    r"\[TOOL_CALLS\]\s*([\w.-]+)\s*(?:\[CALL_ID\][^\[{]*)?(?:\[ARGS\])?\s*(\{.*?)\s*(?=\[TOOL_CALLS\]|\Z)", re.DOTALL
)
_MISTRAL_LIST = re.compile(r"\[TOOL_CALLS\]\s*(.*)\Z", re.DOTALL)
_VALUE = re.compile(r"[{\[]")
_FENCE = re.compile(r"```[\w-]*\s*\n(.*?)(?:```|\Z)", re.DOTALL)
_NAMES = ("name", "tool", "tool_name", "function_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
MAX_CALLS = 32  # in one text: more is a model going round in circles


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """What a model may call; `schema` is the JSON schema of its arguments, as JSON text."""

    name: str
    schema: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that fits its tool's schema."""

    name: str
    arguments: dict[str, Any]  # JSON
    repaired: bool = False  # whether its JSON was damaged


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalls:
    """What was found in a text."""

    calls: tuple[ToolCall, ...]
    problems: tuple[str, ...]  # one sentence for each call that cannot be used
    text: str  # what the model said beside its calls


@dataclass(frozen=True, slots=True)
class _Found:
    """A possible call: its name may be within the arguments' text."""

    name: str
    body: str


def parse_tool_calls(text: str, tools: Sequence[Tool]) -> ToolCalls:
    """Return the calls in a model's answer, in order; what does not fit its tool is a problem in words."""
    said = strip_thinking(text)
    names = {tool.name for tool in tools}
    found, rest = _find(said, names)
    calls: list[ToolCall] = []
    problems: list[str] = []
    schemas = {tool.name: tool.schema for tool in tools}
    for possible in found:
        for name, arguments, repaired in _read(possible, problems):
            if len(calls) >= MAX_CALLS:
                problems.append(f"More than {MAX_CALLS} calls in one answer; the rest was left out.")
                return ToolCalls(calls=tuple(calls), problems=tuple(problems), text=rest)
            if problem := _check(name, arguments, schemas):
                problems.append(problem)
            else:
                calls.append(ToolCall(name=name, arguments=arguments, repaired=repaired))
    return ToolCalls(calls=tuple(calls), problems=tuple(problems), text=rest)


def _find(text: str, names: set[str]) -> tuple[list[_Found], str]:
    """Return possible calls, and the text without them."""
    if "<tool_call>" in text:
        bodies = [match[1] for match in _TOOL_CALL.finditer(text)]
        found = [call for body in bodies for call in (_list_functions(body) or [_Found("", body)])]
        return found, _TOOL_CALL.sub("", text).strip()
    if "<function=" in text:
        return _list_functions(text), _FUNCTION.sub("", text).strip()
    if "<|python_tag|>" in text:
        return [_Found("", match[1]) for match in _PYTHON_TAG.finditer(text)], _PYTHON_TAG.sub("", text).strip()
    if "[TOOL_CALLS]" in text:
        named = [_Found(match[1], match[2]) for match in _MISTRAL_NAMED.finditer(text)]
        if named:
            return named, text[: text.index("[TOOL_CALLS]")].strip()
        return [_Found("", match[1]) for match in _MISTRAL_LIST.finditer(text)], _MISTRAL_LIST.sub("", text).strip()
    return _find_bare(text, names)


def _list_functions(text: str) -> list[_Found]:
    found = []
    for match in _FUNCTION.finditer(text):
        body = match[2]
        if parameters := _PARAMETER.findall(body):
            body = json.dumps({name: _parse_value(value) for name, value in parameters})
        found.append(_Found(match[1], body))
    return found


def _parse_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _find_bare(text: str, names: set[str]) -> tuple[list[_Found], str]:
    """Return the JSON values in a text that name a known tool."""
    for fence in _FENCE.finditer(text):
        if _mentions(fence[1], names):
            return [_Found("", fence[1])], (text[: fence.start()] + text[fence.end() :]).strip()
    at = min((i for i in (text.find("{"), text.find("[")) if i >= 0), default=-1)
    if at < 0 or not _mentions(text[at:], names):
        return [], text.strip()
    return [_Found("", text[at:])], text[:at].strip()


def _mentions(text: str, names: set[str]) -> bool:
    """Tell whether a text looks like a call of a known tool, rather than like any other JSON."""
    return any(re.search(rf'"(?:{"|".join(_NAMES)})"\s*:\s*"{re.escape(name)}"', text) is not None for name in names)


def _read(found: _Found, problems: list[str]) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield name, arguments and whether they were repaired."""
    values, repaired = _load(found.body)
    if not values:
        problems.append("A call could not be read: it holds no JSON object.")
    for value in values:
        for call in _unwrap(value):
            if found.name:
                yield found.name, call, repaired
                continue
            name = next((call[key] for key in _NAMES if isinstance(call.get(key), str)), "")
            arguments: Any = next((call[key] for key in _ARGUMENTS if key in call), {})
            if isinstance(arguments, str):  # encoded twice, as OpenAI's interface has it
                inner, inner_repaired = _load(arguments)
                arguments, repaired = (inner[0] if inner else {}), repaired or inner_repaired
            if not name or not isinstance(arguments, dict):
                problems.append("A call could not be read: it has no name, or its arguments are no object.")
                continue
            yield name, arguments, repaired


def _unwrap(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the calls in a list, in `tool_calls`, or in `function`."""
    if isinstance(value, list):
        for part in value:
            yield from _unwrap(part)
    elif isinstance(value, dict):
        if isinstance(value.get("tool_calls"), list):
            yield from _unwrap(value["tool_calls"])
        elif isinstance(value.get("function"), dict):
            yield from _unwrap(value["function"])
        else:
            yield value


def _load(text: str) -> tuple[list[Any], bool]:
    """Return the JSON values that stand one after the other in a text, and whether it had to be repaired."""
    decoder = json.JSONDecoder(strict=False)  # a line break within a string is no reason to refuse it
    values: list[Any] = []
    at = 0
    while (start := _VALUE.search(text, at)) is not None:
        try:
            value, at = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            return values + _repair(text[start.start() :]), True
        values.append(value)
    return values, False


def _repair(text: str) -> list[Any]:
    import json_repair

    try:
        value = json_repair.loads(text)
    except (ValueError, RecursionError):
        return []
    return [value] if isinstance(value, dict | list) and value else []


def _check(name: str, arguments: dict[str, Any], schemas: dict[str, str]) -> str:
    """Return why a call cannot be used, "" if it can."""
    if name not in schemas:
        known = ", ".join(sorted(schemas)) or "none"
        return f"There is no tool {name!r}; known are: {known}."
    import jsonschema

    try:
        jsonschema.validate(arguments, json.loads(schemas[name]))
    except jsonschema.ValidationError as error:
        where = "/".join(str(part) for part in error.absolute_path)
        return f"The call of {name} does not fit{f' at {where}' if where else ''}: {error.message[:200]}."
    return ""
