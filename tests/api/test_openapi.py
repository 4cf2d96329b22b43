"""The OpenAPI document is derived from the routes, complete, and agrees with the service."""

from __future__ import annotations

import base64
import json
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import jsonschema_rs
import pytest
from msgspec import Struct
from starlette.responses import Response

import client_generator
from support import examples, statuses
from support.contracts import compare
from support.databases import Databases
from support.people import Person, call
from support.publisher import Publisher
from support.running import RunningService, running_service
from tidings.api.openapi import document, operations_of
from tidings.api.schema_annotations import Required, Timestamp, one_of
from tidings.base.errors import InvalidInput, NotFound
from tidings.domain.accounts.users import User
from tidings.http.binding import LazyBody, Query
from tidings.http.endpoints import Media, Routes
from tidings.net.errors import FetchError
from tidings.wiring.routes import API_DOCUMENT, DOCUMENTED_ROUTES

DRAFT = "https://json-schema.org/draft/2020-12/schema"


@pytest.fixture
def new_service(databases: Databases, tmp_path: Path) -> Iterator[RunningService]:
    """Without any user."""
    with databases.migrated() as url, running_service(url, tmp_path) as running:
        yield running


@pytest.mark.slow
@pytest.mark.one_engine
def test_the_openapi_document_is_the_reviewed_one(
    new_service: RunningService, site: Publisher, pytestconfig: pytest.Config
) -> None:
    """The examples come from a running service; those that are kept have the form of what it answers today.

    They are reviewed where they are kept, so the contract has none.
    """
    write = bool(pytestconfig.getoption("--write-contracts"))
    kept = json.loads(examples.KEPT.read_text())
    found = examples.merged(kept, examples.taken(new_service, site))
    if write:
        examples.KEPT.write_text(pretty(found))
    assert found == kept or write, "the examples are not true any more: if that is meant, run `make contracts`"
    compare("openapi.json", pretty(document(DOCUMENTED_ROUTES)), write=write)


def test_the_client_for_python_is_the_reviewed_one(pytestconfig: pytest.Config) -> None:
    for name, text in client_generator.generated(document(DOCUMENTED_ROUTES)).items():
        path = client_generator.PACKAGE / name
        if pytestconfig.getoption("--write-contracts"):
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text, f"{name} is not what `make contracts` and `make client` write"


def pretty(value: Any) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


@pytest.mark.slow
def test_the_document_needs_no_credentials(alice: Person) -> None:
    answer = call(alice.service.url, "GET", "/v1/openapi.json", headers={"X-Auth-Token": "wrong"})

    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.json() == API_DOCUMENT.at()
    assert call(alice.service.url, "HEAD", "/v1/openapi.json").status == 200
    assert call(alice.service.url, "POST", "/v1/openapi.json").status == 401
    assert alice.call("POST", "/v1/openapi.json").status == 405


def test_every_operation_has_a_description_a_response_and_examples() -> None:
    for path, method, operation in operations(API_DOCUMENT.at()):
        where = f"{method} {path}"
        assert operation["summary"], where
        assert any(status.startswith("2") for status in operation["responses"]), where
        for body in (operation.get("requestBody", {}), *operation["responses"].values()):
            for kind, content in body.get("content", {}).items():
                # A document in a document, the form around it, a text that says what is wrong, a stream.
                is_without = path == "/v1/openapi.json" or kind in ("text/plain", "text/event-stream")
                assert "example" in content or is_without, where


def test_every_example_conforms_to_its_schema() -> None:
    whole = API_DOCUMENT.at()
    contents = [
        content
        for _, _, operation in operations(whole)
        for body in (operation.get("requestBody", {}), *operation["responses"].values())
        for kind, content in body.get("content", {}).items()
        if kind == "application/json" and "example" in content
    ]
    assert len(contents) > 40
    for content in contents:
        strict(whole, content["schema"]).validate(content["example"])


def test_every_error_has_a_body_with_a_message() -> None:
    for name, error in API_DOCUMENT.at()["components"]["responses"].items():
        content = error["content"]["application/json"]
        assert content["schema"] == {"$ref": "#/components/schemas/ErrorBody"}
        # No example turns a database off, fills a disk, sends a gigabyte or two files at once, or compresses a body.
        without = ("Unavailable", "DiskFull", "TooLarge", "UnsupportedCoding", "Conflict")
        assert name in without or content["example"]["error_message"]


def test_every_reference_has_a_target() -> None:
    whole = API_DOCUMENT.at()
    for reference in references(whole):
        found: Any = whole
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]


class PetQuery(Query, frozen=True):
    """order: by what. loud: whether to shout."""

    order: Annotated[str, one_of(("name", "age"))] = ""
    loud: bool | None = None
    tag: tuple[str, ...] = ()


class PetUpdate(Struct, frozen=True):
    """A change. name: what to call."""

    name: Required[str] = None
    age: int | None = None


class PetOut(Struct, frozen=True):
    born_at: Timestamp


def update_pet(caller: User, pet_id: int, query: PetQuery, body: LazyBody[PetUpdate]) -> PetOut:
    """Change a pet. It stays the same animal."""
    raise NotImplementedError


class PageQuery(Query, frozen=True):
    cursor: str = ""


class PetPage(Struct, frozen=True):
    pets: list[PetOut]


class PetPageWithCursor(Struct, frozen=True):
    pets: list[PetOut]
    next_cursor: str


@pytest.mark.parametrize(("page", "has_link"), [(PetPage, True), (PetPageWithCursor, False)])
def test_a_list_in_pages_links_to_the_next_one(page: type[Struct], has_link: bool) -> None:
    def list_pets(caller: User, query: PageQuery) -> Response:
        raise NotImplementedError

    routes = Routes("Pets")
    routes.get("/v1/pets", lists=PetOut, responses={200: page})(list_pets)
    answer = document(routes.all)["paths"]["/v1/pets"]["get"]["responses"]["200"]

    assert ("Link" in answer.get("headers", {})) is has_link


def test_a_new_route_describes_itself() -> None:
    routes = Routes("Pets")
    routes.put("/v1/pets/{pet_id}", status=201, admin=True, raises=(InvalidInput, NotFound, FetchError))(update_pet)
    created = document(routes.all, examples={"update_pet": {"request": {"name": "Rex"}}})

    assert created["paths"]["/v1/pets/{pet_id}"]["put"] == {
        "operationId": "update_pet",
        "tags": ["Pets"],
        "summary": "Change a pet",
        "description": "It stays the same animal.",
        "parameters": [
            {
                "name": "pet_id",
                "in": "path",
                "required": True,
                "description": "The pet.",
                "schema": {"type": "integer", "format": "int64", "minimum": 1},
            },
            {
                "name": "order",
                "in": "query",
                "required": False,
                "description": "by what.",
                "schema": {"type": "string", "enum": ["name", "age"]},
            },
            {
                "name": "loud",
                "in": "query",
                "required": False,
                "description": "whether to shout.",
                "schema": {"type": "boolean"},
            },
            {
                "name": "tag",
                "in": "query",
                "required": False,
                "schema": {"type": "array", "items": {"type": "string"}},
            },
        ],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/PetUpdate"}, "example": {"name": "Rex"}}
            },
        },
        "responses": {
            "201": {
                "description": "Created or changed. The response is the new state.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}},
            },
            "400": {"$ref": "#/components/responses/Refused"},
            "401": {"$ref": "#/components/responses/Unauthorized"},
            "403": {"$ref": "#/components/responses/Forbidden"},
            "404": {"$ref": "#/components/responses/NotFound"},
            "413": {"$ref": "#/components/responses/TooLarge"},
            "415": {"$ref": "#/components/responses/UnsupportedCoding"},
            "429": {"$ref": "#/components/responses/Throttled"},
            "500": {"$ref": "#/components/responses/OutsideFailed"},
            "503": {"$ref": "#/components/responses/Unavailable"},
        },
        "security": [{"password": []}, {"key": ["admin"]}],
    }
    assert created["components"]["schemas"]["PetUpdate"] == {
        "type": "object",
        "description": "A change.",
        "properties": {
            "name": {"type": "string", "minLength": 1, "description": "what to call."},
            "age": {"type": ["integer", "null"]},
        },
        "required": ["name"],
    }
    assert created["components"]["schemas"]["Pet"]["properties"] == {
        "born_at": {"type": "string", "format": "date-time"}
    }


def test_a_handler_that_returns_a_response_must_declare_it() -> None:
    def get_picture() -> Response:
        raise NotImplementedError

    silent, declared = Routes("Pictures"), Routes("Pictures")
    silent.get("/v1/picture")(get_picture)
    declared.get("/v1/picture", responses={200: Media("image/png")})(get_picture)

    with pytest.raises(TypeError, match="get_picture"):
        document(silent.all)
    answer = document(declared.all)["paths"]["/v1/picture"]["get"]["responses"]["200"]
    assert answer == {"description": "Done.", "content": {"image/png": {"schema": {}}}}


def test_operations_that_share_a_handler_have_names_of_their_own() -> None:
    names = operations_of(DOCUMENTED_ROUTES)

    assert len(names) == len(DOCUMENTED_ROUTES)
    assert names["toggle_star_bookmark"].path == "/v1/entries/{entry_id}/bookmark"


def test_the_documentation_mentions_every_route() -> None:
    page = statuses.PAGE.read_text()

    missing = [f"{r.method} {r.path}" for r in DOCUMENTED_ROUTES if f"| {r.method} {r.path} |" not in page]
    assert missing == [], "run `make statuses`"


def test_the_example_requests_of_the_documentation_work(alice: Person) -> None:
    page = statuses.PAGE.read_text()
    calls = [line.strip() for line in page.splitlines() if line.startswith("    curl ")]

    assert len(calls) == 6
    for line in calls:
        command = line.replace("https://reader.example.org", alice.service.url)
        command = command.replace("$KEY", alice.token).replace("alice:", f"{alice.user.username}:")
        _, *given = shlex.split(command)
        headers = {"X-Auth-Token": alice.token} if "-H" in given else {"Authorization": _basic(given[1])}
        assert call(alice.service.url, "GET", given[-1].removeprefix(alice.service.url), headers=headers).status == 200


def _basic(words: str) -> str:
    return "Basic " + base64.b64encode(words.encode()).decode()


def operations(whole: dict[str, Any]) -> Iterable[tuple[str, str, dict[str, Any]]]:
    for path, methods in whole["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def references(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from references(one)


def strict(whole: dict[str, Any], schema: dict[str, Any]) -> jsonschema_rs.Validator:
    """Formats count, and a member that the schema does not know is a mistake."""
    components = {
        name: {**component, "additionalProperties": False} if component.get("properties") else component
        for name, component in whole["components"]["schemas"].items()
    }
    return jsonschema_rs.Draft202012Validator(
        {"$schema": DRAFT, **schema, "components": {"schemas": components}}, validate_formats=True
    )
