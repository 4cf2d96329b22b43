"""LMTP below the supervisor: one of several workers listens, another takes its place, and all ends with the service."""

from __future__ import annotations

import os
import signal
import socket
import struct
from pathlib import Path

import pytest

from newsletters.letters import has_address, message
from newsletters.test_lmtp import MailServer, eventually
from support.people import Cast
from support.running import environment_for, running
from tidings import settings
from tidings.base.errors import StartError
from tidings.runtime import preflight

pytestmark = pytest.mark.slow


def listening_process(place: Path) -> int:
    """Return the id of the process that listens, and 0 if there is none. Source: unix(7), SO_PEERCRED."""
    with socket.socket(socket.AF_UNIX) as probe:
        if probe.connect_ex(str(place)) != 0:
            return 0
        return int(struct.unpack("3i", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0])


def test_a_killed_worker_is_replaced_and_the_socket_goes_with_the_service(
    database_url: str, tmp_path: Path, socket_folder: Path
) -> None:
    place = socket_folder / "lmtp.sock"
    environment = environment_for(
        database_url, tmp_path, newsletters_lmtp=f"unix:{place}", worker_processes="2", log_level="debug",
        admin_password="correct horse", newsletters_address="n{secret}n@reader.example",
    )  # fmt: skip
    with running("serve", environment, tmp_path) as service:
        service.wait_until_ready()
        alice = Cast(service).person("alice")
        secret = has_address(alice).rpartition("/")[2]
        with MailServer(place) as server:
            assert server.replies(message(1), f"n{secret}n@reader.example") == ["250 2.0.0 stored"]
            killed = listening_process(place)
            os.kill(killed, signal.SIGKILL)

        assert eventually(lambda: listening_process(place) not in (0, killed))
        with MailServer(place) as server:
            replies = server.replies(message(1), f"{secret}@x.example", "x@x.example")
        assert [reply[:9] for reply in replies] == ["250 2.0.0", "550 5.1.1"]
        assert len(alice.entries()) == 1
        assert service.stop() == 0
        log = service.log

    assert not place.exists()
    assert "listening for letters" in log
    assert secret not in log
    assert "Traceback" not in log


@pytest.mark.one_engine
def test_it_does_not_start_where_something_else_listens(socket_folder: Path) -> None:
    path = socket_folder / "lmtp.sock"
    with socket.socket(socket.AF_UNIX) as unix, socket.socket() as tcp:
        unix.bind(str(path))
        unix.listen()
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        for written in (f"unix:{path}", f"127.0.0.1:{tcp.getsockname()[1]}", f"unix:{socket_folder}/missing/lmtp.sock"):
            found = settings.load({"TIDINGS_DATA_DIR": str(socket_folder), "TIDINGS_NEWSLETTERS_LMTP": written})
            with pytest.raises(StartError, match=r"another TIDINGS_NEWSLETTERS_LMTP|its folder does not exist"):
                preflight.check_lmtp(found)
