"""Services with ways of signing in, and browsers that have come back from a provider."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from sign_in.forging_provider import ForgingProvider, callback_path
from support.databases import Databases
from support.people import Cast, HttpResponse, Person
from support.running import RunningService, running_service
from support.visitors import Visitor


@pytest.fixture(scope="module")
def provider() -> Iterator[ForgingProvider]:
    with ForgingProvider() as running:
        yield running


@pytest.fixture(scope="module")
def openid_service(
    databases: Databases, provider: ForgingProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service whose users may sign in at the provider."""
    folder = tmp_path_factory.mktemp("openid")
    settings = provider.settings(oauth2_user_creation="1")
    with databases.migrated() as url, running_service(url, folder, **settings) as running:
        yield running


def username_of(answer: HttpResponse) -> str:
    """Return the name of the account on the settings page; "" if nobody is signed in."""
    if answer.status != 200:
        return ""
    match = re.search(r'<input[^>]* name="username"[^>]* value="([^"]*)"', answer.body.decode())
    assert match is not None
    return html.unescape(match[1])


@dataclass
class Browser:
    """A browser that signs in at a provider."""

    visitor: Visitor
    provider: ForgingProvider

    def start(self, next_path: str = "") -> str:
        """Return the address at the provider to which the service leads."""
        answer = self.visitor.get(f"/oauth2/oidc/redirect?next={next_path}")
        assert answer.status == 303, answer.body
        return answer.headers["location"]

    def sign_in(self, subject: str, next_path: str = "", **claims: Any) -> HttpResponse:
        """Return the response of the service to what the provider says."""
        return self.finish(self.provider.answer(self.start(next_path), subject=subject, **claims))

    def finish(self, answer: dict[str, str]) -> HttpResponse:
        return self.visitor.get(callback_path(answer))

    @property
    def username(self) -> str:
        """The name of the account that is signed in, "" for none."""
        return username_of(self.visitor.get("/settings"))


@pytest.fixture
def browser(openid_service: RunningService, provider: ForgingProvider) -> Browser:
    """A browser without a session."""
    return Browser(Visitor(openid_service), provider)


@pytest.fixture
def owner(openid_service: RunningService) -> Person:
    """A user of that service, with a password."""
    return Cast(openid_service).person("owner")
