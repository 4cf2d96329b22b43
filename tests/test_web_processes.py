"""Web workers on demand, with real processes, sockets and clients that notice every failed request."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.processes import is_running
from test_supervisor import Service, eventually

pytestmark = pytest.mark.slow

STARTS = "another web worker starts"
ENDS = "a web worker ends until it is needed again"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    with contextlib.ExitStack() as stack:

        def start_service(application: str = "app_on_demand") -> Service:
            service = Service(tmp_path, application, WEB_WORKERS="2")
            stack.callback(service.clean_up)
            return service.until_ready()

        yield start_service


class Visitor(threading.Thread):
    """A client that sends one request after another until it is told to stop, and keeps what failed."""

    def __init__(self, service: Service, path: str, *, keeps_connection: bool) -> None:
        super().__init__(daemon=True)
        self._service, self._path, self._keeps_connection = service, path, keeps_connection
        self.failures: list[str] = []
        self.pids = set[int]()
        self.last_pid = self.answers = 0
        self.is_done = threading.Event()

    def run(self) -> None:
        connection = self._service.connect()
        while not self.is_done.is_set():
            try:
                connection.request("GET", self._path)
                response = connection.getresponse()
                self.last_pid = int(response.read())
                assert response.status == 200
                self.pids.add(self.last_pid)
                self.answers += 1
            except Exception as error:  # noqa: BLE001  (each one is a lost request)
                self.failures.append(repr(error))
                connection.close()
            if not self._keeps_connection:
                connection.close()
        connection.close()


class Crowd:
    """Clients at the same time; every other one keeps its connection, unless all do."""

    def __init__(self, service: Service, path: str, *, size: int = 8, all_keep: bool = False) -> None:
        self._service = service
        self.visitors = [Visitor(service, path, keeps_connection=all_keep or number % 2 == 0) for number in range(size)]
        for visitor in self.visitors:
            visitor.start()

    @property
    def pids(self) -> set[int]:
        found = set[int]().union(*(one.pids for one in self.visitors))
        self._service.pids |= found
        return found

    @property
    def last_pids(self) -> set[int]:
        """The processes that answered the last request of each client."""
        return {one.last_pid for one in self.visitors} - {0}

    @property
    def answers(self) -> int:
        return sum(one.answers for one in self.visitors)

    def leave(self) -> list[str]:
        """Stop all clients, and return what failed."""
        for visitor in self.visitors:
            visitor.is_done.set()
        for visitor in self.visitors:
            visitor.join()
        assert self.answers
        return [failure for visitor in self.visitors for failure in visitor.failures]


def test_a_second_process_starts_while_requests_wait_and_clients_come_to_it(start: Callable[..., Service]) -> None:
    service = start()
    [first] = service.pids

    crowd = Crowd(service, "/work", all_keep=True)

    assert eventually(lambda: len(crowd.last_pids) == 2), service.log
    assert first in crowd.pids
    assert crowd.leave() == []
    assert service.log.count(STARTS) == 1
    assert "error" not in service.log


def test_one_request_at_a_time_starts_no_process(start: Callable[..., Service]) -> None:
    service = start()

    crowd = Crowd(service, "/work", size=1)

    assert eventually(lambda: crowd.answers > 30)
    assert len(crowd.pids) == 1
    assert crowd.leave() == []
    assert STARTS not in service.log


def test_no_request_fails_while_a_process_that_is_not_needed_ends_and_another_comes_again(
    start: Callable[..., Service],
) -> None:
    service = start(application="app_that_rests_soon")
    [first] = service.pids
    quiet = Crowd(service, "/pid", size=4)
    busy = Crowd(service, "/work")
    assert eventually(lambda: len(busy.pids) == 2), service.log
    [second] = busy.pids - {first}
    assert busy.leave() == []

    assert eventually(lambda: ENDS in service.log), service.log
    assert eventually(lambda: not is_running(second)), service.log
    again = Crowd(service, "/work")
    assert eventually(lambda: len(again.pids - {second}) == 2), service.log

    assert again.leave() == []
    assert quiet.leave() == []
    assert is_running(first)
    assert "error" not in service.log
    service.stop(signal.SIGTERM)
    assert service.process.returncode == 0, service.log
    assert not any(map(is_running, service.pids))


@pytest.mark.parametrize("killed", ["the first process", "the second process"])
def test_a_killed_process_is_replaced_while_the_other_one_answers(start: Callable[..., Service], killed: str) -> None:
    service = start()
    [first] = service.pids
    crowd = Crowd(service, "/work")
    assert eventually(lambda: len(crowd.pids) == 2), service.log
    [second] = crowd.pids - {first}

    os.kill(first if killed == "the first process" else second, signal.SIGKILL)

    assert eventually(lambda: len(crowd.pids) == 3), service.log
    failures = crowd.leave()
    # Of each connection at most the request that the killed process had in hand.
    assert len(failures) <= len(crowd.visitors)
    assert not any("refused" in failure.lower() for failure in failures)
    assert eventually(lambda: 'role="web worker" exit_code=-9' in service.log), service.log


def test_waiting_connections_survive_the_end_of_the_only_process(start: Callable[..., Service]) -> None:
    """The socket is the supervisor's: who connects while a process is restarted is answered by the next one."""
    service = start()
    [first] = service.pids
    os.kill(first, signal.SIGSTOP)
    assert eventually(lambda: Path(f"/proc/{first}/stat").read_text(encoding="utf-8").split()[-50] == "T")
    with contextlib.ExitStack() as stack:
        waiting = [stack.enter_context(contextlib.closing(service.connect())) for _ in range(5)]
        for connection in waiting:
            connection.request("GET", "/pid")

        os.kill(first, signal.SIGKILL)

        answers = [int(connection.getresponse().read()) for connection in waiting]

    service.pids |= set(answers)
    assert first not in answers
