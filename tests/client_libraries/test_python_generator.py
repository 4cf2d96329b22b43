"""The generator takes in new kinds of operations without being told."""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import Any

import pytest

from client_generator import blocking, client
from client_generator.operations import operations_of
from client_generator.types import Types, camel, noun
from support.publisher import Answer, Publisher
from tidings_client import errors

PAGE = {
    "type": "object",
    "properties": {
        "entries": {"type": "array", "items": {"type": "integer"}},
        "next_cursor": {"type": "string"},
        "has_more": {"type": "boolean"},
    },
}


def answer(schema: dict[str, Any], kind: str = "application/json") -> dict[str, Any]:
    return {"200": {"content": {kind: {"schema": schema}}}}


def operation(name: str, responses: dict[str, Any], *parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "operationId": name,
        "tags": ["Pets"],
        "summary": name,
        "responses": responses,
        "parameters": list(parameters),
        **more,
    }


def parameter(name: str, place: str = "query") -> dict[str, Any]:
    return {"name": name, "in": place, "schema": {"type": "string"}, "required": place == "path"}


DOCUMENT = {
    "tags": [{"name": "Pets"}],
    "components": {
        "schemas": {
            "Synced": PAGE,
            "Odd": {"type": "object", "properties": {"from": {"type": "string"}}},
        }
    },
    "paths": {
        "/v1/events": {
            "get": operation(
                "list_events", answer({"type": "string"}, "text/event-stream"), parameter("Last-Event-ID", "header")
            )
        },
        "/v1/sync": {"get": operation("sync", answer({"$ref": "#/components/schemas/Synced"}), parameter("cursor"))},
        "/v1/pets/{name}": {
            "get": operation("get_class", answer({"type": "integer"}), parameter("name", "path"), parameter("from")),
            "put": operation(
                "update_pet",
                {"204": {}},
                parameter("name", "path"),
                requestBody={"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Odd"}}}},
            ),
        },
    },
}


@pytest.fixture
def async_pets(site: Publisher) -> Any:
    names: dict[str, Any] = {}
    exec(client.text(operations_of(DOCUMENT, Types(DOCUMENT))), names)
    return names["AsyncClient"](site.url(""), token="secret")


@pytest.fixture
def pets(site: Publisher) -> Any:
    names: dict[str, Any] = {}
    exec(blocking.derived(client.text(operations_of(DOCUMENT, Types(DOCUMENT)))), names)
    return names["Client"](site.url(""), token="secret")


def test_events_are_read_as_they_come(pets: Any, async_pets: Any, site: Publisher) -> None:
    stream = 'id: 7\nevent: entry\ndata: {"id": 1}\n\n: still here\n\ndata: {"id": 2}\n\n'
    site.script("/v1/events", Answer(stream, headers={"Content-Type": "text/event-stream"}, chunked=True))

    async def read() -> list[tuple[str, str, object]]:
        async with async_pets:
            return [(one.id, one.event, one.json()) async for one in async_pets.events(last_event_id="6")]

    with pets:
        found = [(one.id, one.event, one.json()) for one in pets.events(last_event_id="6")]
    assert found == asyncio.run(read()) == [("7", "entry", {"id": 1}), ("7", "message", {"id": 2})]
    assert [seen.headers["last-event-id"] for seen in site.requests_for("/v1/events")] == ["6", "6"]


def test_a_refused_stream_is_an_error(pets: Any, async_pets: Any, site: Publisher) -> None:
    site.script("/v1/events", Answer('{"error_message": "Not yours."}', status=403))

    async def read() -> None:
        async with async_pets:
            async for _ in async_pets.events():
                pass

    with pets, pytest.raises(errors.Forbidden, match="Not yours"):
        next(pets.events())
    with pytest.raises(errors.Forbidden, match="Not yours"):
        asyncio.run(read())


def test_pages_with_a_cursor_in_their_body_follow_each_other(pets: Any, site: Publisher) -> None:
    for path, page in (
        ("/v1/sync?cursor=a", {"entries": [1], "next_cursor": "b", "has_more": True}),
        ("/v1/sync?cursor=b", {"entries": [2], "next_cursor": "c", "has_more": False}),
    ):
        site.script(path, Answer(json.dumps(page)))
    with pets:
        assert pets.sync(cursor="a")["entries"] == [1]
        assert [page["entries"] for page in pets.iter_sync(cursor="a")] == [[1], [2]]


def test_words_of_python_are_no_names(pets: Any, site: Publisher) -> None:
    site.script("/v1/pets/a%2Fb?from=there", Answer("3"))
    site.script("/v1/pets/rex", Answer(status=204))
    with pets:
        assert pets.get_class("a/b", from_="there") == 3
        # Its body has a member that cannot be an argument.
        pets.update_pet("rex", {"from": "here"})
    assert site.last.json() == {"from": "here"}
    assert [*inspect.signature(pets.update_pet).parameters] == ["name", "body"]


@pytest.mark.parametrize(
    ("operation_id", "expected"),
    [("list_entries", "entries"), ("get_feed", "feed"), ("getaway", "getaway"), ("create_list", "create_list")],
)
def test_methods_for_reading_are_named_by_what_they_return(operation_id: str, expected: str) -> None:
    assert noun(operation_id) == expected


def test_names_of_types_are_in_their_style() -> None:
    assert [camel(name) for name in ("entry_status", "Last-Event-ID", "EntryList")] == [
        "EntryStatus",
        "LastEventID",
        "EntryList",
    ]
