"""Schemas of the OpenAPI document: bodies and responses from structs, parameters from query structs.

`name: description.` in the docstring of a struct describes the field of that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from tidings.http.binding import Query

Schema = dict[str, Any]

REF = "#/components/schemas/"
INT64 = {"type": "integer", "format": "int64"}
PATH_ID = {**INT64, "minimum": 1}

_PLAIN: dict[Any, Schema] = {
    int | None: {**INT64, "minimum": 0},
    bool | None: {"type": "boolean"},
    str: {"type": "string"},
    tuple[str, ...]: {"type": "array", "items": {"type": "string"}},
    tuple[int, ...]: {"type": "array", "items": {**INT64, "minimum": 0}},
}


class Schemas:
    """The schemas of all types of a document. components: the schemas of structs, by name."""

    def __init__(self, hints: Iterable[Any]) -> None:
        kinds = list({repr(alternative): alternative for hint in hints for alternative in alternatives(hint)}.values())
        schemas, components = msgspec.json.schema_components(kinds, ref_template=REF + "{name}")
        structs = dict(chain.from_iterable(_structs(kind) for kind in kinds))
        shown = [_public_name(name) for name in components]
        assert len(set(shown)) == len(shown), f"two structs of one name: {sorted(shown)}"
        self._by_hint = {repr(kind): _simplified(schema) for kind, schema in zip(kinds, schemas, strict=True)}
        self.components = {_public_name(name): _component(schema, structs[name]) for name, schema in components.items()}

    def of(self, hint: Any) -> Schema:
        """Return the schema of a type."""
        several = [self._by_hint[repr(alternative)] for alternative in alternatives(hint)]
        return several[0] if len(several) == 1 else {"anyOf": several}


def alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union. msgspec has no schema for `list[A] | list[B]`, which JSON cannot tell apart."""
    return get_args(hint) if get_origin(hint) in (UnionType, Union) else (hint,)


def parameters(query: type[Query]) -> list[Schema]:
    """Return the query parameters of an operation."""
    _, descriptions = _descriptions(query)
    hints = get_type_hints(query, include_extras=True)
    return [_parameter(name, hints[name], descriptions.get(name, "")) for name in query.__struct_fields__]


def _parameter(name: str, hint: Any, description: str) -> Schema:
    plain, more = (get_args(hint)[0], get_args(hint)[1:]) if get_origin(hint) is Annotated else (hint, ())
    schema = {**_PLAIN[plain]}
    extra = next((meta.extra_json_schema or {} for meta in more if isinstance(meta, Meta)), {})
    if "items" in schema:
        schema["items"] = schema["items"] | extra
    else:
        schema |= extra
    created: Schema = {"name": name, "in": "query", "required": False, "schema": schema}
    return created | {"description": description} if description else created


def _structs(hint: Any) -> Iterable[tuple[str, type[Struct]]]:
    """Yield every struct within a type, with the name that msgspec gives it."""
    seen: set[Any] = set()
    waiting = [hint]
    while waiting:
        candidate = waiting.pop()
        if isinstance(candidate, type) and issubclass(candidate, Struct) and candidate not in seen:
            seen.add(candidate)
            yield candidate.__name__, candidate
            waiting += get_type_hints(candidate).values()
        else:
            waiting += get_args(candidate)


def _public_name(name: str) -> str:
    """Return the public name of a struct: `Feed` for `FeedOut`."""
    return name.removesuffix("Out")


def _component(schema: Schema, struct: type[Struct]) -> Schema:
    rest, descriptions = _descriptions(struct)
    created: Schema = {"type": "object", "properties": {}}
    if rest:
        created["description"] = rest
    required = set(schema.get("required", ()))
    for name, field in schema.get("properties", {}).items():
        simple = _simplified(field)
        if simple.pop("required", False):
            required.add(name)
            simple = _required(simple)
        # In OpenAPI 3.1 a description may stand next to a reference.
        created["properties"][name] = simple | {"description": descriptions[name]} if name in descriptions else simple
    if required:
        created["required"] = [name for name in struct.__struct_fields__ if name in required]
    return created


def _simplified(schema: Any) -> Any:
    """Return a schema with `null` in the type, public names, and `format: int64` instead of its bounds."""
    if isinstance(schema, list):
        return [_simplified(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    created = {key: _simplified(value) for key, value in schema.items() if not (key == "default" and value is None)}
    if "$ref" in created:
        created["$ref"] = REF + _public_name(created["$ref"].removeprefix(REF))
    if created.get("minimum") == -(2**63):
        created = {key: value for key, value in created.items() if key not in ("minimum", "maximum")} | INT64
    if created.get("maximum") == 2**63 - 1:
        created = {key: value for key, value in created.items() if key != "maximum"} | INT64
    match created.get("anyOf"):
        case [{"type": str(kind)} as one, {"type": "null"}] | [{"type": "null"}, {"type": str(kind)} as one]:
            created = {**one, **created, "type": [kind, "null"]}
            del created["anyOf"]
            if "enum" in created:
                created["enum"] = [*created["enum"], None]
    return created


def _required(schema: Schema) -> Schema:
    """Return the schema of a field that must be neither null nor empty."""
    kind = schema["type"][0]
    return {**schema, "type": kind, "minItems" if kind == "array" else "minLength": 1}


def _descriptions(struct: type[Struct]) -> tuple[str, dict[str, str]]:
    """Return the descriptions of a struct and of its fields, from its docstring."""
    text = " ".join(struct.__doc__.split()) if struct.__doc__ and "__doc__" in vars(struct) else ""
    names = "|".join(struct.__struct_fields__)
    about = rf"(?:{names})(?:(?:, | and )(?:{names}))*"
    by_field: dict[str, str] = {}
    rest = text
    for match in re.finditer(rf"(?<!\S)({about}): (.+?)(?:[.;](?= |$)|$)", text):
        for name in re.split(", | and ", match[1]):
            by_field[name] = match[2] + "."
        rest = rest.replace(match[0], "")
    return " ".join(rest.split()), by_field


def is_nothing(hint: Any) -> bool:
    return hint is None or hint is NoneType
