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
from tidings.api.openapi import operations_of
from tidings.api.reference import documented_endpoints, openapi
from tidings.domain.errors import FetchError
from tidings.settings import load
from tidings.storage.engine.database import Database
from tidings.wiring import build_services

# A closed port, addresses that the guard refuses, and prefixes that make an address invalid.
NOWHERE = (
    "http://127.0.0.1:1/", "https://[::1]:1/?", "http://169.254.169.254/", "http://ada:secret@localhost:1/#",
    "http://10.0.0.1:99999/", "socks5://127.0.0.1:1/", "file:///", "/", "::", "http://", "http:///", " ",
)  # fmt: skip
JUDGES = [
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
    """person: an administrator of a service that may not fetch from private networks. seed: the same again."""

    def __init__(self, person: Person, site: Publisher, *, seed: int, document: dict[str, Any] | None = None) -> None:
        load_all_checks()
        self.statuses: Counter[int] = Counter()
        self.findings: dict[str, str] = {}
        self._person, self._site, self._seed = person, site, seed
        self._session = requests.Session()
        self._judges: list[Any] = CHECKS.get_by_names(JUDGES)
        self._routes = operations_of(documented_endpoints())
        self._ids: dict[str, list[int]] = {}
        schema = schemathesis.openapi.from_dict(document or strict_document())
        self._operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]

    @property
    def count(self) -> int:
        return self.statuses.total()

    def run(self, wanted: int) -> None:
        """At least so many requests: every operation in turn, as its schema says and otherwise."""
        modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        for turn in itertools.count():
            # What takes no parameters is soon done with.
            most = max(2, min(100, 2 * (wanted - self.count) // (len(self._operations) * len(modes))))
            for number, (operation, mode) in enumerate(itertools.product(self._operations, modes)):
                self._ask(operation, mode, most, seed=self._seed + turn * 1000 + number)
            if self.count >= wanted:
                return

    def report(self) -> str:
        lines = [f"{self.count} requests, seed {self._seed}: {dict(sorted(self.statuses.items()))}"]
        return "\n".join([*lines, f"{len(self.findings)} findings", *self.findings.values()])

    def _ask(self, operation: Any, mode: GenerationMode, most: int, *, seed: int) -> None:
        # Some requests delete everything; later requests need data to act on.
        self._have_something()
        aim = 0.8 if mode is GenerationMode.POSITIVE else 0.3

        @hypothesis.seed(seed)
        @hypothesis.settings(SETTINGS, max_examples=most)
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode), choice=st.randoms(use_true_random=False))
        def ask(case: Case, choice: random.Random) -> None:
            self._aim(case, choice, aim)
            self._judge(case)

        try:
            ask()
        except hypothesis.errors.Unsatisfiable:
            return  # nothing can be wrong about a request without any parameter

    def _aim(self, case: Case, choice: random.Random, aim: float) -> None:
        """At things that exist, and at nothing outside. aim: how often."""
        for place in (case.path_parameters, case.query, case.body):
            if isinstance(place, dict):
                for name in set(place) & set(self._ids):
                    if choice.random() < aim:
                        place[name] = choice.choice(self._ids[name])
        body: Any = case.body
        if isinstance(body, dict):
            for name, value in body.items():
                if name.endswith("url") and isinstance(value, str):
                    body[name] = choice.choice(NOWHERE) + value
        name = case.operation.definition.raw["operationId"]
        if choice.random() < aim:
            self._help(name, case, choice)
        self._keep_the_keys(name, case)

    def _help(self, name: str, case: Case, choice: random.Random) -> None:
        """Where a schema alone hardly ever leads to a request that does something."""
        body: Any = case.body
        if name == "update_entries" and isinstance(body, dict):
            body |= {"entry_ids": [choice.choice(self._ids["entry_id"]), UNKNOWN], "starred": choice.random() < 0.5}
        elif name == "import_feeds":
            text = OPML.replace("Buoys", choice.choice(("&amp;", "\u00e9", "", "]]>", "&x;")))
            case.body = text.replace("https://buoys.example/", choice.choice(NOWHERE)).encode()
            case.media_type = "application/xml"

    def _keep_the_keys(self, name: str, case: Case) -> None:
        """Change requests that would delete our own key or give up our own rights."""
        if name == "delete_api_key" and str(case.path_parameters["api_key_id"]) == str(self._own_key):
            case.path_parameters["api_key_id"] = UNKNOWN
        if name == "update_user" and isinstance(case.body, dict):
            case.body.pop("is_admin", None)

    def _judge(self, case: Case) -> None:
        answer = case.call(
            base_url=self._person.service.url,
            session=self._session,
            headers={"X-Auth-Token": self._person.token},
            allow_redirects=False,
            timeout=60,
        )
        self.statuses[answer.status_code] += 1
        name = case.operation.definition.raw["operationId"]
        for what in self._complaints(name, case, answer):
            self.findings.setdefault(
                f"{name} {what.splitlines()[0]}",
                f"\n{name}: {what}\n{case.as_curl_command()}\n{answer.status_code} {answer.text[:500]}",
            )

    def _complaints(self, name: str, case: Case, answer: Any) -> Iterator[str]:
        if answer.status_code >= 500:
            outside = any(issubclass(error, FetchError) for error in self._routes[name].raises)
            if not outside or answer.status_code > 500 or "on our side" in answer.text:
                yield f"answered {answer.status_code}"
        if answer.status_code >= 400 and not answer.json()["error_message"].strip():
            yield "does not say what is wrong"
        try:
            case.validate_response(answer, checks=self._judges)
        except schemathesis.errors.SchemathesisError:
            raise
        except BaseExceptionGroup as group:
            yield from (str(one) for one in group.exceptions)

    def _have_something(self) -> None:
        """Create one of each kind of resource, unless earlier requests left enough of them."""
        ask = self._person
        self._ids = self._found()
        if all(len(self._ids[name]) > 1 for name in self._ids):
            return
        seed_feeds(ask, self._site)
        ask.call("POST", "/v1/api-keys", {"description": f"key {self.count}"})
        ask.call("POST", "/v1/api-passwords", {"name": f"app {self.count}"})
        ask.call("POST", "/v1/users", {"username": f"victim{self.count}", "password": "correct horse"})
        ask.call("POST", "/v1/categories", {"title": f"Category {self.count}"})
        self._ids = self._found()

    def _found(self) -> dict[str, list[int]]:
        ask = self._person
        feeds = ask.get("/v1/feeds")
        entries = ask.entries(limit=100, order="id", direction="desc")
        keys = ask.get("/v1/api-keys")
        self._own_key = next(key["id"] for key in keys if key["token"] == ask.token)
        return {
            "feed_id": [feed["id"] for feed in feeds],
            "category_id": [category["id"] for category in ask.get("/v1/categories")],
            "icon_id": [feed["icon"]["icon_id"] for feed in feeds if feed["icon"]],
            "entry_id": [entry["id"] for entry in entries],
            "enclosure_id": [one["id"] for entry in entries for one in entry["enclosures"]],
            "user_id": [user["id"] for user in ask.get("/v1/users")],
            "api_key_id": [key["id"] for key in keys],
            "api_password_id": [one["id"] for one in ask.get("/v1/api-passwords")],
        }


def strict_document() -> dict[str, Any]:
    """Returns the document without security schemes, and with all objects closed to undeclared members."""
    whole = copy.deepcopy(openapi())
    del whole["security"], whole["components"]["securitySchemes"]
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
            await services.feeds.create(person.user, {"feed_url": site.url(path)})
        await services.close()

    asyncio.run(subscribe())
