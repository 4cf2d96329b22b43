"""Hubs may refuse, hang, redirect, and redirect into the private network."""

from __future__ import annotations

import asyncio

import pytest

from support.publisher import CERTIFICATE, Answer, Endless, Hang, Publisher
from tidings.base.errors import InvalidInput, TidingsError
from tidings.base.times import Instant
from tidings.net.errors import AddressRefused, FetchTimeout, HttpError, NetworkError, TooManyRedirects
from tidings.net.fetch import FetchSettings
from tidings.websub.hubs import HubClient, is_public_address

FORM = {"hub.mode": "subscribe", "hub.topic": "https://a.example/?a=1&b=ü"}
NOW = Instant(1_800_000_000_000_000)


def ask(url: str, *, private: bool = True, timeout_s: float = 20) -> None:
    async def run() -> None:
        hubs = HubClient(FetchSettings(user_agent="Tidings/test", allow_private_networks=private), timeout_s=timeout_s)
        try:
            await hubs.send(url, FORM, now=NOW)
        finally:
            await hubs.close()

    asyncio.run(run())


@pytest.mark.parametrize("status", [200, 202, 204])
def test_a_hub_gets_a_form(site: Publisher, status: int) -> None:
    site.serve("/hub", status=status)
    ask(site.url("/hub"))

    assert site.last.method == "POST"
    assert site.last.headers["content-type"] == "application/x-www-form-urlencoded"
    assert site.last.headers["user-agent"] == "Tidings/test"
    assert site.last.body == b"hub.mode=subscribe&hub.topic=https%3A%2F%2Fa.example%2F%3Fa%3D1%26b%3D%C3%BC"


@pytest.mark.parametrize("status", [307, 308])
def test_a_hub_may_redirect(site: Publisher, status: int) -> None:
    site.redirect("/old", to="/hub", status=status)
    site.serve("/hub", status=202)
    ask(site.url("/old"))

    assert (site.last.method, site.last.path) == ("POST", "/hub")
    assert site.last.body.startswith(b"hub.mode=subscribe")


def test_the_secret_is_not_sent_to_plain_http_after_https(site: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    plain = site.serve("/hub", status=202)
    with Publisher(tls=True) as secure:
        secure.redirect("/old", to=plain, status=307)
        with pytest.raises(NetworkError, match=plain):
            ask(secure.url("/old"))

        secure.redirect("/older", to="/hub", status=308)
        secure.serve("/hub", status=202)
        ask(secure.url("/older"))

    assert site.requests == []


def test_too_many_redirects_of_a_hub_are_an_error(site: Publisher) -> None:
    site.redirect("/a", to="/b", status=307)
    site.redirect("/b", to="/a", status=307)
    with pytest.raises(TooManyRedirects):
        ask(site.url("/a"))
    assert len(site.requests) == 4


@pytest.mark.parametrize("status", [301, 302, 303, 400, 404, 410, 500, 503])
def test_a_refusal_has_the_reason_of_the_hub(site: Publisher, status: int) -> None:
    site.serve("/hub", "Wrong\n\x1b[31m topic " + "x" * 5000, status=status, headers={"Retry-After": "120"})
    with pytest.raises(HttpError) as caught:
        ask(site.url("/hub"))

    assert (caught.value.status, caught.value.retry_after_s) == (status, 120)
    assert f"with status {status}: Wrong [31m topic xxx" in caught.value.message
    assert len(caught.value.message) < 300


@pytest.mark.slow
def test_a_hub_that_hangs_times_out_and_an_endless_response_is_cut(site: Publisher) -> None:
    site.script("/hangs", Hang())
    with pytest.raises(FetchTimeout):
        ask(site.url("/hangs"), timeout_s=0.2)
    site.script("/talks", Endless())
    ask(site.url("/talks"))
    assert site.bytes_sent("/talks") < 100 * 2**20


def test_a_hub_in_a_private_network_is_refused(site: Publisher) -> None:
    site.serve("/hub", status=202)
    with pytest.raises(AddressRefused):
        ask(site.url("/hub"), private=False)
    assert site.requests == []


@pytest.mark.parametrize(
    ("location", "error"),
    [("", NetworkError), ("ftp://hub.example/", InvalidInput), ("http://[", InvalidInput)],
)
def test_a_redirect_of_a_hub_to_an_unusable_location_is_an_error(
    site: Publisher, location: str, error: type[TidingsError]
) -> None:
    site.script("/hub", Answer(status=307, headers={"Location": location} if location else {}))
    with pytest.raises(error):
        ask(site.url("/hub"))


@pytest.mark.parametrize(
    ("url", "is_public"),
    [
        ("https://reader.example.org", True),
        ("http://reader.example.org:8080/reader", True),
        ("https://8.8.8.8", True),
        ("https://[2606:4700::1111]/", True),
        ("http://localhost:8080", False),
        ("http://127.0.0.1:8080", False),
        ("http://10.1.2.3", False),
        ("http://[::1]:8080", False),
        ("http://[fd00::1]", False),
        ("http://nas", False),
        ("http://nas.local", False),
        ("http://reader.lan./", False),
        ("http://reader.home.arpa", False),
        ("http://reader.LOCALHOST", False),
        ("http://reader.test", False),
        ("http://reader.internal", False),
    ],
)
def test_urls_that_the_internet_can_reach_are_public(url: str, is_public: bool) -> None:
    assert is_public_address(url) == is_public
