"""The three operations as pydantic models: the source of the tool's schema.

Imported only where a schema is made, because pydantic is slow to load.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class KeepModel(_Closed):
    """Leave the section as it is."""

    op: Literal["KEEP"]


class UpdateModel(_Closed):
    """Replace the whole section with `content`."""

    op: Literal["UPDATE"]
    content: str


class AppendModel(_Closed):
    """Add `items` to the section, one statement each."""

    op: Literal["APPEND"]
    items: list[str]


SHAPES: tuple[type[BaseModel], ...] = (KeepModel, UpdateModel, AppendModel)
