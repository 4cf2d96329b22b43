"""Random requests generated from the OpenAPI document; responses are checked against it.

Many ids are real ones. Nothing leaves the machine: every address that the service could be made to fetch is one
that its guard refuses, or none at all.
"""

from __future__ import annotations

import asyncio
import copy
import itertools
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import hypothesis
import requests
import schemathesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.result import Ok

from support.people import Person, rss
from support.publisher import Publisher
from support.resource_factory import FEED, ICON, OPML, UNKNOWN
from tidings.api.fields import PARAMETER
from tidings.api.openapi import operations_of
from tidings.engine.database import Database
from tidings.net.errors import FetchError
from tidings.settings import load
from tidings.wiring.routes import API_DOCUMENT, DOCUMENTED_ROUTES
from tidings.wiring.services import build_services

# A closed port, addresses that the guard refuses, and prefixes that make an address invalid.
UNREACHABLE = (
    "http://127.0.0.1:1/", "https://[::1]:1/?", "http://169.254.169.254/", "http://ada:secret@localhost:1/#",
    "http://10.0.0.1:99999/", "socks5://127.0.0.1:1/", "file:///", "/", "::", "http://", "http:///", " ",
)  # fmt: skip
CHECK_NAMES = [
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
]
SETTINGS = hypothesis.settings(
    deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
Case = schemathesis.Case[Any]


class Fuzzer:
    """person: an administrator of a service that may not fetch from private networks. seed: for the same requests."""

    def __init__(self, person: Person, site: Publisher, *, seed: int, document: dict[str, Any] | None = None) -> None:
        load_all_checks()
        self.statuses: Counter[int] = Counter()
        self.findings: dict[str, str] = {}
        self._person, self._site, self._seed = person, site, seed
        self._session = requests.Session()
        self._checks: list[Any] = CHECKS.get_by_names(CHECK_NAMES)
        self._routes = operations_of(DOCUMENTED_ROUTES)
        self._ids: dict[str, list[int]] = {}
        schema = schemathesis.openapi.from_dict(document or strict_document())
        # The stream of events does not end. It begins with one, after which the next may come in hours.
        schema.config.max_stream_events = 1
        self._operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]

    @property
    def count(self) -> int:
        return self.statuses.total()

    def run(self, wanted: int, *, half: int | None = None) -> None:
        """Send at least `wanted` requests: every operation in turn, with valid and with invalid parameters.

        half: 0 or 1 for every operation with valid or with invalid parameters, in turn; 1 for the others.
        """
        modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        for round_number in itertools.count():
            # Operations without parameters have few different requests, so that a round may send less than this.
            max_requests = max(2, min(100, 2 * (wanted - self.count) // (len(self._operations) * len(modes))))
            for number, (operation, mode) in enumerate(itertools.product(self._operations, modes)):
                if half is not None and (number + number // 2) % 2 != half:
                    continue
                self._request_operation(operation, mode, max_requests, seed=self._seed + round_number * 1000 + number)
            if self.count >= wanted:
                return

    def report(self) -> str:
        lines = [f"{self.count} requests, seed {self._seed}: {dict(sorted(self.statuses.items()))}"]
        return "\n".join([*lines, f"{len(self.findings)} findings", *self.findings.values()])

    def _request_operation(self, operation: Any, mode: GenerationMode, max_requests: int, *, seed: int) -> None:
        # Some requests delete everything; later requests need data to act on.
        self._create_missing_resources()
        existing_share = 0.8 if mode is GenerationMode.POSITIVE else 0.3

        @hypothesis.seed(seed)
        @hypothesis.settings(SETTINGS, max_examples=max_requests)
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode), choice=st.randoms(use_true_random=False))
        def owner(case: Case, choice: random.Random) -> None:
            self._use_existing_ids(case, choice, existing_share)
            self._check_response(case)

        try:
            owner()
        except hypothesis.errors.Unsatisfiable:
            return  # nothing can be wrong about a request without any parameter

    def _use_existing_ids(self, case: Case, choice: random.Random, existing_share: float) -> None:
        """Replace ids by existing ones, and URLs by unreachable ones. existing_share: how often, 0 to 1."""
        for place in (case.path_parameters, case.query, case.body):
            if isinstance(place, dict):
                for name in set(place) & set(self._ids):
                    if choice.random() < existing_share:
                        place[name] = choice.choice(self._ids[name])
        body: Any = case.body
        if isinstance(body, dict):
            for name, value in body.items():
                if name.endswith("url") and isinstance(value, str):
                    body[name] = choice.choice(UNREACHABLE) + value
        name = case.operation.definition.raw["operationId"]
        if choice.random() < existing_share:
            self._fill_in_valid_values(name, case, choice)
        self._protect_own_account(name, case)

    def _fill_in_valid_values(self, name: str, case: Case, choice: random.Random) -> None:
        """Make requests valid that a schema alone hardly ever makes valid."""
        body: Any = case.body
        if name == "update_entries" and isinstance(body, dict):
            body |= {"entry_ids": [choice.choice(self._ids["entry_id"]), UNKNOWN], "starred": choice.random() < 0.5}
        elif name == "import_feeds":
            text = OPML.replace("Buoys", choice.choice(("&amp;", "\u00e9", "", "]]>", "&x;")))
            case.body = text.replace("https://buoys.example/", choice.choice(UNREACHABLE)).encode()
            case.media_type = "application/xml"

    def _protect_own_account(self, name: str, case: Case) -> None:
        """Change requests that would delete our own key or give up our own rights."""
        if name == "delete_api_key" and str(case.path_parameters["api_key_id"]) == str(self._own_key):
            case.path_parameters["api_key_id"] = UNKNOWN
        if name == "update_user" and isinstance(case.body, dict):
            case.body.pop("is_admin", None)

    def _check_response(self, case: Case) -> None:
        answer = case.call(
            base_url=self._person.service.url,
            session=self._session,
            headers={"X-Auth-Token": self._person.token},
            allow_redirects=False,
            timeout=60,
        )
        self.statuses[answer.status_code] += 1
        name = case.operation.definition.raw["operationId"]
        for what in self._problems(name, case, answer):
            self.findings.setdefault(
                f"{name} {what.splitlines()[0]}",
                f"\n{name}: {what}\n{case.as_curl_command()}\n{answer.status_code} {answer.text[:500]}",
            )

    def _problems(self, name: str, case: Case, answer: Any) -> Iterator[str]:
        if answer.status_code >= 500:
            outside = any(issubclass(error, FetchError) for error in self._routes[name].raises)
            if not outside or answer.status_code > 500 or "on our side" in answer.text:
                yield f"answered {answer.status_code}"
        if answer.status_code >= 400 and not answer.json()["error_message"].strip():
            yield "does not say what is wrong"
        try:
            case.validate_response(answer, checks=self._checks)
        except schemathesis.errors.SchemathesisError:
            raise
        except BaseExceptionGroup as group:
            yield from (str(one) for one in group.exceptions)

    def _create_missing_resources(self) -> None:
        """Create one of each kind of resource, unless earlier requests left enough of them."""
        owner = self._person
        self._ids = self._existing_ids()
        if all(len(self._ids[name]) > 1 for name in self._ids):
            return
        seed_feeds(owner, self._site)
        owner.call("POST", "/v1/api-keys", {"description": f"key {self.count}"})
        owner.call("POST", "/v1/api-passwords", {"name": f"app {self.count}"})
        owner.call("POST", "/v1/users", {"username": f"victim{self.count}", "password": "correct horse"})
        owner.call("POST", "/v1/categories", {"title": f"Category {self.count}"})
        self._ids = self._existing_ids()

    def _existing_ids(self) -> dict[str, list[int]]:
        owner = self._person
        feeds = owner.get("/v1/feeds")
        entries = owner.entries(limit=100, order="id", direction="desc")
        keys = owner.get("/v1/api-keys")
        self._own_key = next(key["id"] for key in keys if key["token"] == owner.token)
        return {
            "feed_id": [feed["id"] for feed in feeds],
            "category_id": [category["id"] for category in owner.get("/v1/categories")],
            "icon_id": [feed["icon"]["icon_id"] for feed in feeds if feed["icon"]],
            "entry_id": [entry["id"] for entry in entries],
            "enclosure_id": [one["id"] for entry in entries for one in entry["enclosures"]],
            "user_id": [user["id"] for user in owner.get("/v1/users")],
            "api_key_id": [key["id"] for key in keys],
            "api_password_id": [one["id"] for one in owner.get("/v1/api-passwords")],
        }


def strict_document() -> dict[str, Any]:
    """Return the document without security schemes, and with all objects closed to undeclared members.

    The parameter that leaves out members of items is left out itself.
    """
    whole = copy.deepcopy(API_DOCUMENT.at())
    del whole["security"], whole["components"]["securitySchemes"]
    for operation in (one for methods in whole["paths"].values() for one in methods.values()):
        del operation["security"]
        given = operation.get("parameters", ())
        operation["parameters"] = [parameter for parameter in given if parameter["name"] != PARAMETER]
    for component in whole["components"]["schemas"].values():
        component["additionalProperties"] = False
    return whole


def seed_feeds(person: Person, site: Publisher) -> None:
    """Subscribe directly, not through the running service, which may not fetch from private networks."""
    site.serve("/favicon.ico", ICON.replace("{color}", "red"), headers={"Content-Type": "image/svg+xml"})
    number = len(site.requests)
    site.serve(f"/{number}.xml", FEED.replace("{site}", site.url("")))
    site.serve(f"/{number}-more.xml", rss(["One", "Two & Three", "<b>Four</b>"], site.url(f"/{number}-more.xml")))
    environment = {**person.service.environment, "TIDINGS_FETCHER_ALLOW_PRIVATE_NETWORKS": "1"}
    settings = load(environment, None)
    database = Database(settings.database_url)
    services = build_services(database, settings)

    async def subscribe() -> None:
        for path in (f"/{number}.xml", f"/{number}-more.xml"):
            await services.feeds.subscriptions.create(person.user, {"feed_url": site.url(path)})
        await services.close()

    asyncio.run(subscribe())
