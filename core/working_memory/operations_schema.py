"""The tool `update_working_memory`: one source for its JSON Schema, and strict validation.

The models below are the source; from them come the schema that a model is shown and the grammar
that binds it. Only plain keywords are used, because bounds on lengths would unroll into thousands
of grammar rules. pydantic and jsonschema are imported on first use: they are slow to load.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import cast

from core.model import Section

TOOL_NAME = "update_working_memory"

JsonSchema = dict[str, object]

_ALLOWED = frozenset(
    {"type", "properties", "required", "additionalProperties", "oneOf", "enum", "items", "description"}
)


@cache
def tool_parameters() -> JsonSchema:
    """Return the JSON Schema of the tool's arguments: closed objects, `op` first in each."""
    names = [section.value for section in Section]
    sections = {
        "type": "object",
        "properties": dict.fromkeys(names, section_parameters()),
        "required": names,
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"sections": sections},
        "required": ["sections"],
        "additionalProperties": False,
    }


def section_parameters() -> JsonSchema:
    """Return the JSON Schema of one section's operation, for questions about one section."""
    return {"oneOf": [_reduce(schema) for schema in _operation_schemas()]}


def tool_text() -> str:
    """Return name and parameters as JSON text."""
    return json.dumps({"name": TOOL_NAME, "parameters": tool_parameters()}, ensure_ascii=False)


def is_valid(arguments: object) -> bool:
    """Say whether arguments satisfy the schema to the letter."""
    import jsonschema

    return bool(jsonschema.Draft202012Validator(tool_parameters()).is_valid(arguments))


def is_valid_section(operation: object) -> bool:
    """Say whether one section's operation satisfies its schema to the letter."""
    import jsonschema

    return bool(jsonschema.Draft202012Validator(section_parameters()).is_valid(operation))


@cache
def _operation_schemas() -> tuple[JsonSchema, ...]:
    """JSON Schemas of the three shapes, from their models."""
    from core.working_memory.operation_models import SHAPES

    return tuple(cast(JsonSchema, shape.model_json_schema()) for shape in SHAPES)


def _reduce(schema: Mapping[str, object]) -> JsonSchema:
    """A schema with allowed keywords only; a constant becomes an enum of one."""
    result: JsonSchema = {}
    constant = schema.get("const")
    for key, value in {**schema, **({"enum": [constant]} if constant is not None else {})}.items():
        if key == "properties":
            properties = cast(Mapping[str, Mapping[str, object]], value)
            result[key] = {name: _reduce(inner) for name, inner in properties.items()}
        elif key == "items":
            result[key] = _reduce(cast(Mapping[str, object], value))
        elif key in _ALLOWED:
            result[key] = value
    return result
