"""Where a service listens, and what it tells its service manager: Unix socket, TLS, sd_notify, and the health check."""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cli.commands import Tidings, error_line, eventually
from support.ports import free_port

pytestmark = pytest.mark.slow

CERTIFICATE = Path(__file__).parents[1] / "support" / "localhost.pem"


@pytest.fixture
def manager(socket_folder: Path) -> Iterator[socket.socket]:
    """The socket of a service manager, which gets the messages."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as received:
        received.bind(str(socket_folder / "notify"))
        yield received


def message(received: socket.socket) -> str:
    assert select.select([received], [], [], 60)[0], "no message within a minute"
    return received.recv(4096).decode()


def settings_of(folder: Path, **more: str) -> Tidings:
    return Tidings(folder, {"WEB_WORKERS": "1", "WORKER_PROCESSES": "1", "ADMIN_PASSWORD": "correct horse", **more})


def test_a_service_manager_is_told_when_the_service_is_ready_alive_and_stopping(
    tmp_path: Path, socket_folder: Path, manager: socket.socket
) -> None:
    tidings = settings_of(tmp_path, LISTEN_ADDR=f"127.0.0.1:{free_port()}")
    environment = {"NOTIFY_SOCKET": str(socket_folder / "notify"), "WATCHDOG_USEC": "200000"}
    with tidings.started("serve", environment=environment) as service:
        assert message(manager) == "READY=1\nSTATUS=Serving"
        assert tidings("healthcheck").stdout == "OK\n"
        assert [message(manager) for _ in range(3)] == ["WATCHDOG=1"] * 3

        service.send_signal(signal.SIGTERM)
        while (last := message(manager)) == "WATCHDOG=1":
            pass
        assert last == "STOPPING=1"
        assert service.wait(60) == 0


def test_without_a_watchdog_only_changes_are_reported_also_to_an_abstract_socket(tmp_path: Path) -> None:
    name = f"tidings-{os.getpid()}"
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as manager:
        manager.bind(f"\0{name}")
        tidings = settings_of(tmp_path, LISTEN_ADDR=f"127.0.0.1:{free_port()}")
        with tidings.started("serve", environment={"NOTIFY_SOCKET": f"@{name}"}) as service:
            assert message(manager).startswith("READY=1")
            service.send_signal(signal.SIGTERM)
            assert message(manager) == "STOPPING=1"
            assert service.wait(60) == 0


def test_a_unix_socket_serves_requests_whose_proxy_is_trusted(tmp_path: Path, socket_folder: Path) -> None:
    place = socket_folder / "tidings.sock"
    tidings = settings_of(tmp_path, LISTEN_SOCKET=str(place), ACCESS_LOG="1")
    with tidings.started("serve") as service:
        assert service.is_ready(), service.errors
        assert tidings("healthcheck").returncode == 0
        assert "listening there already" in error_line(tidings("serve"), 1)
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.connect(str(place))
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n")
            assert client.recv(100).startswith(b"HTTP/1.1 200")
        assert eventually(lambda: "address=203.0.113.9" in service.errors), service.errors
        assert "X-Forwarded-For ignored" not in service.errors
        service.kill()
        service.wait()

    assert eventually(lambda: not answers(place))
    assert place.is_socket()
    line = error_line(tidings("healthcheck"), 1)
    assert "no answer" in line
    assert "Errno" not in line
    with tidings.started("serve") as service:  # in place of the socket that is left
        assert service.is_ready(), service.errors
        assert tidings("healthcheck").returncode == 0


def answers(place: Path) -> bool:
    """Return whether a process listens at a Unix socket."""
    with closing(socket.socket(socket.AF_UNIX)) as client:
        return client.connect_ex(str(place)) == 0


def test_https_is_served_with_a_certificate_of_its_own(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    port = free_port()
    tidings = settings_of(
        tmp_path, LISTEN_ADDR=f"127.0.0.1:{port}", TLS_CERTIFICATE=str(CERTIFICATE), TLS_KEY=str(CERTIFICATE)
    )
    with tidings.started("serve") as service:
        assert service.is_ready(), service.errors
        assert tidings("healthcheck").returncode == 0
        url = f"https://localhost:{port}/healthz"
        found = subprocess.run(["curl", "-sS", "--cacert", CERTIFICATE, url], capture_output=True, check=False)
        assert (found.stdout, found.stderr) == (b"OK", b"")
    assert f"https://127.0.0.1:{port}" in tidings("config").stdout


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"TLS_CERTIFICATE": str(CERTIFICATE)}, "need each other"),
        ({"TLS_CERTIFICATE": "/nowhere.pem", "TLS_KEY": "/nowhere.pem"}, "/nowhere.pem"),
        ({"LISTEN_SOCKET": "/nowhere/tidings.sock"}, "its folder does not exist"),
        ({"LISTEN_SOCKET": str(CERTIFICATE)}, "a file is in its place"),
    ],
)
def test_a_place_where_nothing_can_listen_is_one_line(bare: Tidings, settings: dict[str, str], says: str) -> None:
    assert says in error_line(bare("serve", **settings), 1)
    assert CERTIFICATE.exists()


def test_the_health_check_of_a_service_that_does_not_run_fails_in_one_line(bare: Tidings) -> None:
    line = error_line(bare("healthcheck", LISTEN_ADDR=f"127.0.0.1:{free_port()}"), 1)
    assert "is not ready: no answer" in line
