"""What the document says about each operation, as the client has it."""

from __future__ import annotations

import keyword
from collections import Counter
from dataclasses import dataclass
from typing import Any

from client_generator.types import REF, Schema, Types, camel, noun

# Operations with more parameters have them in a type of their own, which several of them may share.
MAX_KEYWORDS = 8
JSON, FORM, EVENTS = "application/json", "multipart/form-data", "text/event-stream"
# Of the base class.
TAKEN = frozenset({"close"})


@dataclass(frozen=True)
class Parameter:
    name: str
    """On the wire."""
    keyword: str
    """In Python."""
    type: str
    is_required: bool
    description: str


@dataclass(frozen=True)
class Operation:
    """One method of the client."""

    name: str
    operation_id: str
    tag: str
    method: str
    path: str
    summary: str
    description: str
    scope: str
    """The scope that an API key needs, or empty."""
    is_public: bool
    in_path: tuple[Parameter, ...]
    query: tuple[Parameter, ...]
    query_type: str
    """The type of all parameters of the query, where there are many; or empty."""
    commas: tuple[str, ...]
    headers: tuple[Parameter, ...]
    body_type: str
    """The type of a JSON body, or empty."""
    has_members: bool
    """Whether the members of the body are arguments."""
    file_type: str
    """The media type of a body that is not JSON, or empty."""
    answer: str
    """json, text, file, events or nothing."""
    answer_type: str
    items: tuple[str, str] | None
    """For a list in pages: the member of a page with the items, and their type."""
    has_pages: bool
    """Whether its pages are linked by next_cursor and has_more."""
    is_conditional: bool


def operations_of(document: dict[str, Any], types: Types) -> list[Operation]:
    """Return all operations, by tag in the order of the document."""
    found = [
        (operation, method, path)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    short = Counter(noun(operation["operationId"]) for operation, _, _ in found)
    kinds = _query_types(operation for operation, _, _ in found)
    tags = [tag["name"] for tag in document["tags"]]
    created = [_operation(one, method, path, types, short, kinds) for one, method, path in found]
    return sorted(created, key=lambda one: tags.index(one.tag))


def _query_types(operations: Any) -> dict[str, str]:
    """Return the name of the type of the query by operation. Operations with the same parameters share it."""
    by_parameters: dict[str, list[str]] = {}
    for operation in operations:
        given = [one for one in operation.get("parameters", ()) if one["in"] == "query"]
        if len(given) > MAX_KEYWORDS:
            by_parameters.setdefault(repr(given), []).append(operation["operationId"])
    return {name: f"{camel(noun(min(names, key=len)))}Query" for names in by_parameters.values() for name in names}


def _operation(
    operation: dict[str, Any], method: str, path: str, types: Types, short: Counter[str], kinds: dict[str, str]
) -> Operation:
    operation_id = operation["operationId"]
    name = noun(operation_id)
    if keyword.iskeyword(name) or short[name] > 1 or name in TAKEN or not name.isidentifier():
        name = operation_id
    given: dict[str, list[dict[str, Any]]] = {"path": [], "query": [], "header": []}
    for one in operation.get("parameters", ()):
        given[one["in"]].append(one)
    security = operation.get("security", ())
    body_type, has_members, file_type = _body(operation, types)
    answer, answer_type, schema = _answer(operation, types)
    is_linked = "Link" in operation["responses"].get("200", {}).get("headers", {})
    members = types.schemas.get(answer_type.removeprefix("models."), {}).get("properties", {})
    created = Operation(
        name=name,
        operation_id=operation_id,
        tag=operation["tags"][0],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=operation.get("description", ""),
        scope=next((scopes["key"][0] for scopes in security if scopes.get("key")), ""),
        is_public=security == [],
        in_path=tuple(_parameter(one, types) for one in given["path"]),
        query=tuple(_parameter(one, types) for one in given["query"]),
        query_type=kinds.get(operation_id, ""),
        commas=tuple(one["name"] for one in given["query"] if one.get("explode") is False),
        # Conditional requests are the business of the client.
        headers=tuple(_parameter(one, types) for one in given["header"] if one["name"] != "If-None-Match"),
        body_type=body_type,
        # Two kinds of arguments of unknown names could not be told apart.
        has_members=has_members and operation_id not in kinds,
        file_type=file_type,
        answer=answer,
        answer_type=answer_type,
        items=_items(schema, types) if is_linked else None,
        has_pages={"next_cursor", "has_more"} <= members.keys(),
        is_conditional="304" in operation["responses"],
    )
    _check(created, types)
    return created


def _parameter(parameter: dict[str, Any], types: Types) -> Parameter:
    schema = parameter["schema"]
    kind = types.of(schema, "models.")
    if schema.get("type") == "array":
        one = types.of(schema["items"], "models.")
        kind = f"{one} | Sequence[{one}]"
    if parameter["in"] == "path" and kind == "str":
        kind = "str | int"
    word = parameter["name"].lower().replace("-", "_")
    return Parameter(
        parameter["name"],
        f"{word}_" if keyword.iskeyword(word) else word,
        kind,
        parameter.get("required", False),
        parameter.get("description", "").replace(", separated by commas", ""),
    )


def _body(operation: dict[str, Any], types: Types) -> tuple[str, bool, str]:
    """Return the type of the JSON body, whether its members are arguments, and the media type of any other body."""
    content = operation.get("requestBody", {}).get("content", {})
    if JSON in content:
        schema = content[JSON]["schema"]
        members = _resolved(schema, types).get("properties", {}) if "$ref" in schema else {}
        has_members = bool(members) and all(one.isidentifier() and not keyword.iskeyword(one) for one in members)
        return types.of(schema, "models."), has_members, ""
    return "", False, next((kind for kind in content if kind != FORM), "")


def _answer(operation: dict[str, Any], types: Types) -> tuple[str, str, Schema]:
    """Return the kind of answer, its type, and its schema."""
    contents = [
        (kind, media["schema"])
        for status, response in sorted(operation["responses"].items())
        if status.startswith("2")
        for kind, media in response.get("content", {}).items()
    ]
    if not contents:
        return "nothing", "None", {}
    kind, schema = contents[0]
    if kind == JSON:
        return "json", " | ".join(dict.fromkeys(types.of(one, "models.") for _, one in contents)), schema
    if kind == EVENTS:
        return "events", "ServerSentEvent", {}
    if schema.get("format") == "binary":
        return "file", "None", {}
    return "text", "str", {}


def _items(schema: Schema, types: Types) -> tuple[str, str] | None:
    members = _resolved(schema, types).get("properties", {})
    lists = {name: member for name, member in members.items() if member.get("type") == "array"}
    if len(lists) != 1:
        return None
    ((name, member),) = lists.items()
    return name, types.of(member["items"], "models.")


def _resolved(schema: Schema, types: Types) -> Schema:
    return types.schemas[schema["$ref"].removeprefix(REF)] if "$ref" in schema else schema


def _check(operation: Operation, types: Types) -> None:
    """Two arguments of one name would be one."""
    words = [one.keyword for one in (*operation.headers, *(() if operation.query_type else operation.query))]
    if operation.has_members:
        words += types.schemas[operation.body_type.removeprefix("models.")]["properties"]
    assert len(set(words)) == len(words), f"{operation.operation_id}: two arguments of one name in {words}"
