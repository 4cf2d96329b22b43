"""Writes models.py: a TypedDict for each schema, and the names of choices."""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterable, Iterator

from client_generator.operations import Operation, Parameter
from client_generator.text import GENERATED, docstring
from client_generator.types import Schema, Types

HEAD = f'''"""The JSON of the API, as types: what requests have and what answers have.

Members that are marked NotRequired may be missing. In a request, a member that is left out keeps its value. A list for
which `fields` were chosen has only these.

{GENERATED}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict

'''


def text(types: Types, operations: Iterable[Operation]) -> str:
    """Return the module."""
    parts = [HEAD]
    parts += [f"{name} = Literal[{', '.join(map(json.dumps, values))}]\n" for values, name in types.choices.items()]
    parts += ["".join(_model(name, schema, types)) for name, schema in types.schemas.items()]
    queries = {one.query_type: one.query for one in operations if one.query_type}
    parts += ["".join(_query(name, parameters)) for name, parameters in sorted(queries.items())]
    return "\n".join(parts)


def _model(name: str, schema: Schema, types: Types) -> Iterator[str]:
    members = schema.get("properties")
    if schema.get("type") != "object" or not members:
        yield f"{name} = {types.of(schema)}\n"
        return
    required = list(schema.get("required", ()))
    ordered = [*(one for one in required if one in members), *(one for one in members if one not in required)]
    annotations = {
        one: types.of(members[one]) if one in required else f"NotRequired[{types.of(members[one])}]" for one in ordered
    }
    if any(not one.isidentifier() or keyword.iskeyword(one) for one in ordered):
        listed = ", ".join(f"{one!r}: {kind!r}" for one, kind in annotations.items())
        yield f'{name} = TypedDict("{name}", {{{listed}}})\n'
        return
    yield f"class {name}(TypedDict):\n"
    if about := schema.get("description", ""):
        yield docstring(about, indent="    ") + "\n"
    for one in ordered:
        yield f"    {one}: {annotations[one]}\n"
        if description := members[one].get("description", ""):
            yield docstring(description, indent="    ")


def _query(name: str, parameters: Iterable[Parameter]) -> Iterator[str]:
    yield f"class {name}(TypedDict):\n"
    for one in parameters:
        yield f"    {one.keyword}: NotRequired[{one.type.replace('models.', '')} | None]\n"
        if one.description:
            yield docstring(one.description, indent="    ")
