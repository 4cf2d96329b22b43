"""Real processes, real signals: what was started together stops together, and in time."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tidings import settings
from tidings.domain.errors import StartError
from tidings.runtime import preflight
from tidings.runtime.supervisor import KeptProcess, RestartWait
from tidings.settings import ListenAddress

TESTS = Path(__file__).parent
# A deadline that ends a test which would never end: what must not be waited for takes an hour.
MORE_THAN_ENOUGH_S = 60
# What the log says of processes that did not use the time they had to stop.
KILLED_WEB_WORKER = "refused to gracefully stop"
KILLED_POLLER = "did not stop in time"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def is_running(pid: int) -> bool:
    """A zombie that nobody collected (there may be no init in a container) has ended as well."""
    with contextlib.suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    return False


def eventually(claim: Callable[[], bool], within_s: float = 10) -> bool:
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if claim():
            return True
        time.sleep(0.05)
    return claim()


class Service:
    """A supervisor in a process of its own, with the stand-ins as web application and poller."""

    def __init__(self, folder: Path, application: str = "app", poller: str = "", **given: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.pids: set[int] = set()
        arguments = [application, *([poller, str(folder)] if poller else [])]
        environment = {
            **os.environ,
            "PYTHONPATH": str(TESTS),
            "TIDINGS_LISTEN_ADDR": f"127.0.0.1:{self.port}",
            "TIDINGS_WEB_WORKERS": "1",
            "TIDINGS_WORKER_PROCESSES": "1",
            **{f"TIDINGS_{name}": text for name, text in given.items()},
        }
        self.log_file = folder / f"log-{self.port}"
        with self.log_file.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "support.fake_processes", "serve", *arguments],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )

    def until_ready(self) -> Service:
        assert self.process.stdout
        assert self.process.stdout.readline() == b"ready\n", self.log
        self.pids |= {int(self.get("/pid"))}
        return self

    def get(self, path: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    @property
    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8")

    @property
    def pollers(self) -> list[int]:
        found = [int(file.name) for file in self.folder.iterdir() if file.name.isdigit()]
        self.pids |= set(found)
        return found

    @property
    def poller(self) -> int:
        assert eventually(lambda: len(self.pollers) == 1), self.log
        return self.pollers[0]

    def stop(self, how: signal.Signals) -> None:
        """Send the signal and wait for the end. Raises TimeoutExpired when it does not come at all."""
        self.process.send_signal(how)
        self.process.wait(timeout=MORE_THAN_ENOUGH_S)

    def clean_up(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pid in {*self.pids, *self.pollers}:
            if is_running(pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        assert self.process.stdout
        self.process.stdout.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    with contextlib.ExitStack() as stack:

        def start_service(**arguments: str) -> Service:
            service = Service(tmp_path, **arguments)
            stack.callback(service.clean_up)
            return service

        yield start_service


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_everything_and_is_a_success(start: Callable[..., Service], how: signal.Signals) -> None:
    service = start(poller="obedient").until_ready()
    poller = service.poller

    service.stop(how)

    assert service.process.returncode == 0, service.log
    assert KILLED_POLLER not in service.log
    assert KILLED_WEB_WORKER not in service.log
    assert not is_running(poller)
    assert not any(map(is_running, service.pids))
    assert "error" not in service.log
    assert "panicked" not in service.log


def test_sighup_without_a_terminal_stops_nothing(start: Callable[..., Service]) -> None:
    service = start(poller="obedient").until_ready()
    poller = service.poller

    service.process.send_signal(signal.SIGHUP)

    assert eventually(lambda: "SIGHUP ignored" in service.log)
    assert service.get("/user") == "admin"
    assert is_running(poller)
    service.stop(signal.SIGTERM)
    assert service.process.returncode == 0, service.log


def test_ctrl_c_reaches_the_supervisor_alone_and_is_no_crash(start: Callable[..., Service]) -> None:
    service = start(poller="obedient").until_ready()
    assert service.poller in service.pids
    # Whether a worker that hears it too is taken for a crashed one would depend on who is faster.
    assert all(os.getpgid(pid) != service.process.pid for pid in service.pids)

    os.killpg(service.process.pid, signal.SIGINT)

    assert service.process.wait(timeout=MORE_THAN_ENOUGH_S) == 0
    assert "error" not in service.log


def test_open_connections_and_slow_answers_do_not_hold_up_the_stop(start: Callable[..., Service]) -> None:
    service = start(poller="stubborn").until_ready()
    poller = service.poller
    idle = http.client.HTTPConnection("127.0.0.1", service.port)
    idle.request("GET", "/pid")
    idle.getresponse().read()
    slow = http.client.HTTPConnection("127.0.0.1", service.port)
    slow.request("GET", "/slow")

    service.stop(signal.SIGINT)

    idle.close()
    slow.close()
    assert not is_running(poller)
    assert not any(map(is_running, service.pids))
    # The pollers stop beside the web workers, not after them: the times of both do not add up.
    stages = [service.log.index(event) for event in ("poller is told to stop", KILLED_WEB_WORKER, KILLED_POLLER)]
    assert stages == sorted(stages), service.log


def test_the_poller_is_started_again_when_it_dies(start: Callable[..., Service]) -> None:
    service = start(poller="obedient").until_ready()
    first = service.poller

    os.kill(first, signal.SIGKILL)

    assert eventually(lambda: len(service.pollers) == 2)
    assert "poller ended and will be started again exit_code=-9 wait_s=1.0" in service.log


def test_a_poller_that_keeps_dying_is_given_more_and_more_time(start: Callable[..., Service]) -> None:
    service = start(poller="crashing").until_ready()

    assert eventually(lambda: service.log.count("poller ended") == 3)

    assert "wait_s=1.0" in service.log
    assert "wait_s=2.0" in service.log
    assert "wait_s=4.0" in service.log
    service.stop(signal.SIGTERM)
    assert service.process.returncode == 0, service.log
    assert KILLED_POLLER not in service.log


def test_a_stop_does_not_sit_out_the_wait_before_the_next_start() -> None:
    poller = KeptProcess([sys.executable, "-c", "raise SystemExit(3)"], first_wait_s=3600, longest_wait_s=3600)
    with capture_logs() as events:
        poller.start()
        assert eventually(lambda: "poller ended and will be started again" in [one["event"] for one in events], 30)

        poller.stop()

    assert [one["event"] for one in events if one["log_level"] == "warning"] == []
    assert not [thread for thread in threading.enumerate() if thread.name == "keeper"]


def test_nobody_outlives_a_killed_supervisor(start: Callable[..., Service]) -> None:
    service = start(poller="obedient").until_ready()
    poller, [web] = service.poller, service.pids - set(service.pollers)

    service.stop(signal.SIGKILL)

    assert eventually(lambda: not is_running(poller))
    assert eventually(lambda: not is_running(web))


def test_even_a_stubborn_poller_does_not_outlive_a_killed_supervisor(start: Callable[..., Service]) -> None:
    service = start(poller="stubborn").until_ready()
    poller = service.poller

    service.stop(signal.SIGKILL)

    assert eventually(lambda: not is_running(poller))


def test_several_pollers_run_and_stop_together(start: Callable[..., Service]) -> None:
    service = start(poller="obedient", WORKER_PROCESSES="3").until_ready()
    assert eventually(lambda: len(service.pollers) == 3), service.log

    service.stop(signal.SIGTERM)

    assert service.process.returncode == 0, service.log
    assert not any(map(is_running, service.pids))


def test_a_dead_web_worker_is_replaced(start: Callable[..., Service]) -> None:
    service = start().until_ready()
    [web] = service.pids

    os.kill(web, signal.SIGKILL)

    def answers_again() -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            return int(service.get("/pid")) != web
        return False

    assert eventually(answers_again)


def test_a_web_worker_that_keeps_dying_is_started_again_after_a_growing_wait(start: Callable[..., Service]) -> None:
    service = start(poller="obedient").until_ready()
    poller = service.poller
    died = set[int]()

    def another_answers() -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            service.pids.add(int(service.get("/pid")))
        return bool(service.pids - died - {poller})

    for wait_s in ("0.0", "1.0", "2.0"):
        assert eventually(another_answers, within_s=30), service.log
        [web] = service.pids - died - {poller}
        died.add(web)
        os.kill(web, signal.SIGKILL)
        assert eventually(lambda told=wait_s: f"exit_code=-9 wait_s={told}" in service.log), service.log  # type: ignore[misc]

    assert eventually(another_answers, within_s=30), service.log
    assert service.process.poll() is None
    assert is_running(poller)


def test_a_web_worker_that_ran_well_is_started_again_at_once() -> None:
    wait = RestartWait()

    assert [wait.after(1) for _ in range(8)] == [0, 1, 2, 4, 8, 16, 32, 60]
    assert [wait.after(59), wait.after(61), wait.after(3), wait.after(6)] == [60, 0, 1, 0]


def test_web_workers_have_the_settings_of_the_supervisor(start: Callable[..., Service]) -> None:
    assert start(ADMIN_USERNAME="alice").until_ready().get("/user") == "alice"


def test_a_web_application_that_cannot_start_ends_the_service(start: Callable[..., Service]) -> None:
    service = start(application="app_that_cannot_start", poller="obedient")

    assert service.process.wait(timeout=MORE_THAN_ENOUGH_S) == 1
    assert "the database is from a newer version" in service.log
    assert "Traceback" not in service.log
    assert not any(map(is_running, service.pollers))


def test_a_port_in_use_is_told_before_anything_starts(start: Callable[..., Service]) -> None:
    first = start().until_ready()

    second = start(poller="obedient", LISTEN_ADDR=f"127.0.0.1:{first.port}")

    assert second.process.wait(timeout=MORE_THAN_ENOUGH_S) == 1
    assert f"127.0.0.1:{first.port}: something is listening there already" in second.log
    assert second.log.count("\n") == 1
    assert second.pollers == []


@pytest.mark.parametrize(("host", "says"), [("203.0.113.7", "no such address"), ("nowhere.invalid", "has no address")])
def test_an_address_that_cannot_be_bound_is_named(host: str, says: str) -> None:
    with pytest.raises(StartError, match=f"{host}:8080.*{says}"):
        preflight.check_address(ListenAddress(host, 8080))


def test_a_name_and_every_address_become_something_to_bind() -> None:
    assert preflight.check_address(ListenAddress("localhost", free_port())) == "127.0.0.1"
    assert preflight.check_address(ListenAddress("", free_port())) in {"::", "0.0.0.0"}


def test_the_data_folder_is_made_for_its_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"

    preflight.check_folders(settings.load({"TIDINGS_DATA_DIR": str(folder)}))

    assert folder.stat().st_mode & 0o777 == 0o700
    assert list(folder.iterdir()) == []


def test_a_data_folder_that_cannot_be_made_or_written_is_named(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.touch()

    for folder in (in_the_way, in_the_way / "data", Path("/proc/tidings"), Path("/proc")):
        with pytest.raises(StartError, match=f"{folder}"):
            preflight.check_folders(settings.load({"TIDINGS_DATA_DIR": str(folder)}))


def test_the_folder_of_a_database_elsewhere_is_expected_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="does not exist"):
        preflight.check_folders(settings.load({"TIDINGS_DATABASE_URL": f"sqlite:///{tmp_path}/missing/a.db"}))


def test_no_folder_is_needed_on_postgresql(tmp_path: Path) -> None:
    folder = tmp_path / "data"

    preflight.check_folders(
        settings.load({"TIDINGS_DATA_DIR": str(folder), "TIDINGS_DATABASE_URL": "postgresql://db/tidings"})
    )

    assert not folder.exists()
