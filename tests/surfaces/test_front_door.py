"""The outermost application: checks of the Host header, and the access log."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection

import pytest

from support.hub import wait_for
from support.people import call
from support.running import RunningService, running_service
from tidings.engine.database import Database
from tidings.storage import migrate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("front_door")
    settings = {"access_log": "1", "trusted_reverse_proxy_networks": "192.0.2.0/24"}
    database = Database(f"sqlite:///{folder}/tidings.db")
    migrate.upgrade(database)
    database.close()
    with running_service(f"sqlite:///{folder}/tidings.db", folder, **settings) as service:
        yield service


def sent(service: RunningService, *headers: str, version: str = "1.1") -> bytes:
    """Return the status line of the response."""
    host, _, port = service.url.removeprefix("http://").partition(":")
    lines = [f"GET /healthz HTTP/{version}", *headers, "Connection: close", "", ""]
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall("\r\n".join(lines).encode())
        return connection.makefile("rb").readline()


@pytest.mark.parametrize(
    "headers",
    [[], ["Host:"], ["Host: a.example", "Host: b.example"], ["Host: a b/@c"], ["Host: a.example/"], ["Host: [::1"]],
    ids=["none", "empty", "two", "nonsense", "with a path", "half an address"],
)
def test_a_request_names_its_host_once(logged: RunningService, headers: list[str]) -> None:
    assert b" 400 " in sent(logged, *headers)


@pytest.mark.parametrize("host", ["reader.example.org", "127.0.0.1:8080", "[::1]:80", "xn--bcher-kva.example."])
def test_all_valid_forms_of_host_are_accepted(logged: RunningService, host: str) -> None:
    assert b" 200 " in sent(logged, f"Host: {host}")


def test_http_1_0_needs_no_host(logged: RunningService) -> None:
    assert b" 200 " in sent(logged, version="1.0")


def test_each_request_is_a_line_without_secrets(logged: RunningService) -> None:
    token = "ab" * 20

    call(logged.url, "GET", f"/share/{token}?token=hunter22")

    # The line is written when the response is sent.
    wait_for(lambda: "/share/" in logged.log, "the request is not in the log")
    (line,) = [line for line in logged.log.splitlines() if "/share/" in line]
    assert "request method=GET path=/share/[hidden] status=" in line
    assert "address=127.0.0.1" in line
    assert token not in logged.log
    assert "hunter22" not in logged.log


def test_a_forwarded_address_of_an_unknown_proxy_is_ignored_with_a_warning(logged: RunningService) -> None:
    for _ in range(3):
        sent(logged, "Host: a.example", "X-Forwarded-For: 198.51.100.7")

    warnings = [line for line in logged.log.splitlines() if "X-Forwarded-For ignored" in line]
    assert len(warnings) == 1
    assert "peer=127.0.0.1" in warnings[0]
    assert "TIDINGS_TRUSTED_REVERSE_PROXY_NETWORKS" in warnings[0]
    assert "address=198.51.100.7" not in logged.log


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1", 307),
        ("//x", 307),
        ("/unread", 303),
        ("/robots.txt", 200),
        ("/healthcheck", 200),
        ("/metrics", 404),
        ("/docs/api", 200),
        ("/sign-in", 200),
        ("/nothing", 404),
        ("/static/nothing", 404),
        ("/v1/me", 401),
        ("/v1/nothing", 401),
        ("/fever/", 200),
        ("/accounts/ClientLogin", 401),
        ("/reader/api/0/token", 401),
        ("/reader/api/0/nothing", 401),
        ("/websub/nothing", 404),
        ("/share/nothing", 404),
        ("/proxy/a/b", 403),
        ("/feed-icon/nothing", 404),
    ],
)
def test_every_response_has_the_security_headers_once(logged: RunningService, path: str, status: int) -> None:
    with closing(HTTPConnection(logged.url.removeprefix("http://"), timeout=60)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()

    assert answer.status == status
    assert answer.headers.get_all("x-content-type-options") == ["nosniff"]
    assert answer.headers.get_all("x-frame-options") == ["DENY"]
    assert answer.headers.get_all("referrer-policy") == ["no-referrer"]
    (policy,) = answer.headers.get_all("content-security-policy") or []
    assert "default-src 'none'" in policy


def test_a_refused_host_has_the_security_headers(logged: RunningService) -> None:
    answer = call(logged.url, "GET", "/share/nothing", headers={"Host": "a b"})

    assert (answer.status, answer.headers["x-frame-options"]) == (400, "DENY")
