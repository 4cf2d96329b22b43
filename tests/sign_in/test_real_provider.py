"""Against a provider that others have written: from the sign-in page to the sign-out on both sides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from sign_in.conftest import username_of
from sign_in.real_provider import ProviderBrowser, RealProvider, real_provider
from support.databases import Databases
from support.debian import ProgramMissing
from support.people import HttpResponse
from support.running import RunningService, environment_for, running
from support.visitors import Visitor

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def real(
    engine: str, databases: Databases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[RunningService, RealProvider]]:
    """A service and its provider: members of two groups come in, one of which administers.

    Claims are in the token with one engine, and at the userinfo endpoint only with the other.
    """
    folder = tmp_path_factory.mktemp("real")
    with databases.migrated() as url:
        environment = environment_for(url, folder)
        address = f"http://{environment['TIDINGS_LISTEN_ADDR']}"
        try:
            with real_provider(address, claims_in_token=engine == "sqlite") as provider:
                groups = {"oauth2_allowed_groups": "readers,admins", "oauth2_admin_groups": "admins"}
                settings = provider.settings(**groups)
                environment |= {f"TIDINGS_{name.upper()}": value for name, value in settings.items()}
                with running("web", environment, folder) as service:
                    service.wait_until_ready()
                    yield service, provider
        except ProgramMissing as reason:
            pytest.skip(str(reason))


def sign_in(visitor: Visitor, at_provider: ProviderBrowser) -> HttpResponse:
    """Sign in as a browser does, and return the response to the last request at the service."""
    answer = visitor.get("/oauth2/oidc/redirect?next=/feeds")
    assert answer.status == 303, answer.body
    back = at_provider.follow(answer.headers["location"])
    return visitor.get(back.removeprefix(visitor.service.url))


def test_members_sign_in_and_sign_out_on_both_sides(real: tuple[RunningService, RealProvider]) -> None:
    service, provider = real
    visitor, at_provider = Visitor(service), ProviderBrowser(provider, "1001")
    answer = sign_in(visitor, at_provider)
    assert (answer.status, answer.headers.get("location")) == (303, "/feeds")
    assert username_of(visitor.get("/settings")) == "rosalind"
    assert not service.services.accounts.users.find("rosalind").is_admin

    leaving = visitor.post("/sign-out").headers["refresh"].partition("url=")[2]
    asks = at_provider.get(leaving)
    assert asks.status == 200, asks.body
    token = re.search(r'name="xsrf" value="([^"]+)"', asks.body.decode())
    assert token is not None
    done = at_provider.post(f"{provider.issuer}/session/end/confirm", urlencode({"xsrf": token[1], "logout": "yes"}))
    assert done.headers["location"] == f"{service.url}/sign-in"
    assert username_of(visitor.get("/settings")) == ""


def test_an_administrator_by_group(real: tuple[RunningService, RealProvider]) -> None:
    service, provider = real
    sign_in(Visitor(service), ProviderBrowser(provider, "1002"))

    assert service.services.accounts.users.find("barbara").is_admin


def test_the_address_is_the_name_of_those_without_another(real: tuple[RunningService, RealProvider]) -> None:
    service, provider = real
    visitor = Visitor(service)
    sign_in(visitor, ProviderBrowser(provider, "1004"))

    assert username_of(visitor.get("/settings")) == "ada@example.org"


def test_others_stay_outside(real: tuple[RunningService, RealProvider]) -> None:
    service, provider = real
    visitor = Visitor(service)
    answer = sign_in(visitor, ProviderBrowser(provider, "1003"))

    assert answer.status == 403
    assert "none of the groups" in answer.body.decode()
    assert username_of(visitor.get("/settings")) == ""


def test_who_cancels_stays_outside(real: tuple[RunningService, RealProvider]) -> None:
    service, provider = real
    visitor = Visitor(service)

    assert sign_in(visitor, ProviderBrowser(provider)).status == 403
    assert username_of(visitor.get("/settings")) == ""


def test_a_sign_out_at_the_provider_ends_the_session_here(real: tuple[RunningService, RealProvider]) -> None:
    service, provider = real
    visitor, at_provider = Visitor(service), ProviderBrowser(provider, "1001")
    sign_in(visitor, at_provider)
    assert username_of(visitor.get("/settings")) == "rosalind"

    asks = at_provider.get(f"{provider.issuer}/session/end")
    token = re.search(r'name="xsrf" value="([^"]+)"', asks.body.decode())
    assert token is not None
    at_provider.post(f"{provider.issuer}/session/end/confirm", urlencode({"xsrf": token[1], "logout": "yes"}))

    # The provider has told the service before it answered.
    assert username_of(visitor.get("/settings")) == ""
