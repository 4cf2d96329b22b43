"""The types of Python for the schemas of the document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]

REF = "#/components/schemas/"
# Longer choices get a name.
MAX_INLINE_CHOICES = 3
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


class Types:
    """The schemas of a document, and the names of its choices: the values that a text may have."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.schemas: dict[str, Schema] = document["components"]["schemas"]
        self.choices: dict[tuple[str, ...], str] = {}
        for name, schema in self.schemas.items():
            self._name(tuple(schema.get("properties", ())), f"{name}Field", only_sets=True)
        self._fields = {frozenset(values): name for values, name in self.choices.items()}
        self.choices = {}
        for name, schema in self.schemas.items():
            for member, value in schema.get("properties", {}).items():
                self._collect(value, name + camel(member))
        operations = [one for methods in document["paths"].values() for one in methods.values()]
        for operation in sorted(operations, key=lambda one: (len(one["operationId"]), one["operationId"])):
            for parameter in operation.get("parameters", ()):
                self._collect(parameter["schema"], camel(noun(operation["operationId"])) + camel(parameter["name"]))

    def of(self, schema: Schema, prefix: str = "") -> str:
        """Return the annotation for a schema. prefix: of the module with the models."""
        if "$ref" in schema:
            return f"{prefix}{schema['$ref'].removeprefix(REF)}"
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return _union(self.of(one, prefix) for one in schema[several])
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            return self._choice(schema["enum"], prefix)
        kinds = schema.get("type", [])
        return _union(self._plain(kind, schema, prefix) for kind in ([kinds] if isinstance(kinds, str) else kinds))

    def _plain(self, kind: str, schema: Schema, prefix: str) -> str:
        if kind == "array":
            return f"list[{self.of(schema.get('items', {}), prefix)}]"
        if kind == "object":
            values = schema.get("additionalProperties")
            return f"dict[str, {self.of(values, prefix) if isinstance(values, dict) else 'Any'}]"
        return _PLAIN[kind]

    def _choice(self, values: list[Any], prefix: str) -> str:
        texts = tuple(value for value in values if value is not None)
        name = self.choices.get(texts)
        found = f"{prefix}{name}" if name else f"Literal[{', '.join(map(repr, texts))}]"
        return f"{found} | None" if None in values else found

    def _collect(self, schema: Schema, name: str) -> None:
        """Name the choices in a schema."""
        if "enum" in schema:
            self._name(tuple(value for value in schema["enum"] if value is not None), name)
        for several in ("anyOf", "oneOf"):
            for one in schema.get(several, ()):
                self._collect(one, name)
        if isinstance(schema.get("items"), dict):
            self._collect(schema["items"], name)

    def _name(self, values: tuple[str, ...], name: str, *, only_sets: bool = False) -> None:
        if only_sets or (len(values) > MAX_INLINE_CHOICES and values not in self.choices):
            name = name if only_sets else self._fields.get(frozenset(values), name)
            taken = {*self.choices.values(), *self.schemas}
            assert name not in taken or only_sets, f"two choices of the name {name}"
            self.choices[values] = name


def camel(name: str) -> str:
    """Return a name in the style of classes: `EntryStatus` for `entry_status`."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[_\W]+", name))


def noun(operation_id: str) -> str:
    """Return the name of a method: `entries` for `list_entries`, `feed` for `get_feed`; verbs that change stay."""
    return re.sub(r"^(list|get)_", "", operation_id)


def _union(types: Iterator[str]) -> str:
    parts = list(dict.fromkeys(part for one in types for part in one.split(" | ")))
    return " | ".join(sorted(parts, key="None".__eq__)) or "Any"
