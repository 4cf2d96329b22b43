"""The supervisor with real processes and signals: children are restarted, and all stop together and in time."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import connection
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from support.ports import free_port
from support.processes import is_running
from tidings import settings
from tidings.base.errors import StartError
from tidings.runtime import preflight
from tidings.runtime.children import Child, RestartWait
from tidings.settings import ListenAddress

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent
# A deadline that ends a test which would never end: what must not be waited for takes an hour.
TIMEOUT_S = 60
# What the log says of processes that did not use the time they had to stop.
KILLED = "process did not stop in time and is killed"
KILLED_WEB_WORKER = f'{KILLED} role="web worker"'
KILLED_WORKER = f"{KILLED} role=worker"


def eventually(condition: Callable[[], bool], within_s: float = 180) -> bool:
    """Wait until the condition holds, and return whether it does."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


class Service:
    """A supervisor in its own process, with a fake web application and fake workers.

    worker: how the workers behave, "" for none. options: settings without their prefix.
    """

    def __init__(self, folder: Path, application: str = "app", worker: str = "", **options: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.pids: set[int] = set()
        arguments = [application, *([worker, str(folder)] if worker else [])]
        environment = {
            **os.environ,
            "PYTHONPATH": str(TESTS),
            "TIDINGS_LISTEN_ADDR": f"127.0.0.1:{self.port}",
            "TIDINGS_WEB_WORKERS": "1",
            "TIDINGS_WORKER_PROCESSES": "1",
            **{f"TIDINGS_{name}": text for name, text in options.items()},
        }
        self.log_file = folder / f"log-{self.port}"
        with self.log_file.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "support.fake_processes", *arguments],
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

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def get(self, path: str) -> str:
        connection = self.connect()
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    @property
    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8")

    @property
    def workers(self) -> list[int]:
        found = [int(file.name) for file in self.folder.iterdir() if file.name.isdigit()]
        self.pids |= set(found)
        return found

    @property
    def worker(self) -> int:
        assert eventually(lambda: len(self.workers) == 1), self.log
        return self.workers[0]

    def stop(self, number: signal.Signals) -> None:
        """Send the signal and wait for the end. Raises TimeoutExpired if it never ends."""
        self.process.send_signal(number)
        self.process.wait(timeout=TIMEOUT_S)

    def clean_up(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pid in {*self.pids, *self.workers}:
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_all_processes_and_the_exit_code_is_0(
    start: Callable[..., Service], number: signal.Signals
) -> None:
    service = start(worker="obedient").until_ready()
    worker = service.worker

    service.stop(number)

    assert service.process.returncode == 0, service.log
    assert KILLED not in service.log
    assert not is_running(worker)
    assert not any(map(is_running, service.pids))
    assert "error" not in service.log
    assert "panicked" not in service.log


def test_sighup_without_a_terminal_stops_nothing(start: Callable[..., Service]) -> None:
    service = start(worker="obedient").until_ready()
    worker = service.worker

    service.process.send_signal(signal.SIGHUP)

    assert eventually(lambda: "SIGHUP ignored" in service.log)
    assert service.get("/user") == "admin"
    assert is_running(worker)
    service.stop(signal.SIGTERM)
    assert service.process.returncode == 0, service.log


def test_ctrl_c_reaches_only_the_supervisor_and_logs_no_crash(start: Callable[..., Service]) -> None:
    service = start(worker="obedient").until_ready()
    assert service.worker in service.pids
    # If a child got the signal too, it could end first, and the supervisor would log a crash.
    assert all(os.getpgid(pid) != service.process.pid for pid in service.pids)

    os.killpg(service.process.pid, signal.SIGINT)

    assert service.process.wait(timeout=TIMEOUT_S) == 0
    assert "error" not in service.log


def test_open_connections_and_slow_responses_do_not_delay_the_stop(start: Callable[..., Service]) -> None:
    service = start(worker="stubborn").until_ready()
    worker = service.worker
    idle = http.client.HTTPConnection("127.0.0.1", service.port)
    idle.request("GET", "/pid")
    idle.getresponse().read()
    slow = http.client.HTTPConnection("127.0.0.1", service.port)
    slow.request("GET", "/slow")
    assert eventually(lambda: "fake application got /slow" in service.log)

    service.stop(signal.SIGINT)

    idle.close()
    slow.close()
    assert not is_running(worker)
    assert not any(map(is_running, service.pids))
    # The workers stop at the same time as the web workers, so that their times do not add up.
    stages = [service.log.index(event) for event in ("fake worker got SIGTERM", KILLED_WEB_WORKER, KILLED_WORKER)]
    assert stages == sorted(stages), service.log


def test_a_killed_worker_is_restarted(start: Callable[..., Service]) -> None:
    service = start(worker="obedient").until_ready()
    first = service.worker

    os.kill(first, signal.SIGKILL)

    assert eventually(lambda: len(service.workers) == 2)
    assert "process ended and will be started again role=worker exit_code=-9 wait_s=1.0" in service.log


def test_a_worker_that_keeps_crashing_is_restarted_after_growing_waits(start: Callable[..., Service]) -> None:
    service = start(worker="crashing").until_ready()

    assert eventually(lambda: service.log.count("process ended") >= 3)

    assert "wait_s=1.0" in service.log
    assert "wait_s=2.0" in service.log
    assert "wait_s=4.0" in service.log
    service.stop(signal.SIGTERM)
    assert service.process.returncode == 0, service.log
    assert KILLED not in service.log


def test_a_stop_interrupts_the_wait_before_a_restart() -> None:
    wait = RestartWait(first_s=3600)
    child = Child("worker", lambda _name: 3, time_to_stop_s=3600, wait=wait)
    with capture_logs() as events:
        child.update(time.monotonic())
        assert connection.wait(child.sentinels(), timeout=TIMEOUT_S)

        def noticed() -> bool:
            child.update(time.monotonic())
            return child.wait_s(time.monotonic()) is not None

        assert eventually(noticed)

        child.request_stop()
        child.stop()

    assert [(one["event"], one["exit_code"]) for one in events if one["log_level"] != "debug"] == [
        ("process ended and will be started again", 3)
    ]
    assert child.wait_s(time.monotonic()) is None


def test_the_supervisor_has_one_thread_so_that_it_may_fork(start: Callable[..., Service]) -> None:
    service = start(worker="obedient").until_ready()

    assert len(list(Path(f"/proc/{service.process.pid}/task").iterdir())) == 1


def test_processes_have_names_of_their_own(start: Callable[..., Service]) -> None:
    service = start(worker="obedient").until_ready()
    worker, [web] = service.worker, service.pids - set(service.workers)

    assert Path(f"/proc/{worker}/comm").read_text(encoding="ascii") == "tidings worker\n"
    assert Path(f"/proc/{web}/comm").read_text(encoding="ascii") == "tidings web wor\n"


def test_no_process_outlives_a_killed_supervisor(start: Callable[..., Service]) -> None:
    service = start(worker="obedient").until_ready()
    worker, [web] = service.worker, service.pids - set(service.workers)

    service.stop(signal.SIGKILL)

    assert eventually(lambda: not is_running(worker))
    assert eventually(lambda: not is_running(web))


def test_a_worker_that_ignores_sigterm_does_not_outlive_a_killed_supervisor(start: Callable[..., Service]) -> None:
    service = start(worker="stubborn").until_ready()
    worker = service.worker

    service.stop(signal.SIGKILL)

    assert eventually(lambda: not is_running(worker))


def test_several_workers_run_and_stop_together(start: Callable[..., Service]) -> None:
    service = start(worker="obedient", WORKER_PROCESSES="3").until_ready()
    assert eventually(lambda: len(service.workers) == 3), service.log

    service.stop(signal.SIGTERM)

    assert service.process.returncode == 0, service.log
    assert not any(map(is_running, service.pids))


def test_workers_on_demand_are_started_when_one_asks_and_again_after_a_rest(start: Callable[..., Service]) -> None:
    service = start(worker="asking", WORKER_PROCESSES="3").until_ready()
    first = service.worker  # fails if there are more

    (service.folder / "ask").touch()
    assert eventually(lambda: len(service.workers) == 3), service.log
    (service.folder / "ask").unlink()
    (service.folder / "rest").touch()
    assert eventually(lambda: [pid for pid in service.workers if is_running(pid)] == [first]), service.log
    (service.folder / "rest").unlink()
    (service.folder / "ask").touch()
    assert eventually(lambda: len(service.workers) == 5), service.log

    assert "will be started again" not in service.log
    service.stop(signal.SIGTERM)
    assert service.process.returncode == 0, service.log
    assert not any(map(is_running, service.pids))


def test_a_killed_web_worker_is_restarted(start: Callable[..., Service]) -> None:
    service = start().until_ready()
    [web] = service.pids

    os.kill(web, signal.SIGKILL)

    def answers_again() -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            return int(service.get("/pid")) != web
        return False

    assert eventually(answers_again)


def test_a_web_worker_that_keeps_crashing_is_restarted_after_growing_waits(start: Callable[..., Service]) -> None:
    service = start(worker="obedient").until_ready()
    worker = service.worker
    died = set[int]()

    def another_answers() -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            service.pids.add(int(service.get("/pid")))
        return bool(service.pids - died - {worker})

    for wait_s in ("0.0", "1.0", "2.0"):
        assert eventually(another_answers), service.log
        [web] = service.pids - died - {worker}
        died.add(web)
        os.kill(web, signal.SIGKILL)
        assert eventually(lambda logged=wait_s: f"exit_code=-9 wait_s={logged}" in service.log), service.log  # type: ignore[misc]

    assert eventually(another_answers), service.log
    assert service.process.poll() is None
    assert is_running(worker)


def test_a_web_worker_that_ran_for_a_while_is_restarted_at_once() -> None:
    wait = RestartWait()

    assert [wait.after(1) for _ in range(8)] == [0, 1, 2, 4, 8, 16, 32, 60]
    assert [wait.after(59), wait.after(61), wait.after(3), wait.after(6)] == [60, 0, 1, 0]


def test_web_workers_have_the_settings_of_the_supervisor(start: Callable[..., Service]) -> None:
    assert start(ADMIN_USERNAME="alice").until_ready().get("/user") == "alice"


def test_a_web_application_that_cannot_start_ends_the_service(start: Callable[..., Service]) -> None:
    service = start(application="app_that_cannot_start", worker="obedient")

    assert service.process.wait(timeout=TIMEOUT_S) == 1
    assert "the database is from a newer version" in service.log
    assert "Traceback" not in service.log
    assert not any(map(is_running, service.workers))


def test_a_port_in_use_is_reported_before_any_process_starts(start: Callable[..., Service]) -> None:
    first = start().until_ready()

    second = start(worker="obedient", LISTEN_ADDR=f"127.0.0.1:{first.port}")

    assert second.process.wait(timeout=TIMEOUT_S) == 1
    assert f"127.0.0.1:{first.port}: something is listening there already" in second.log
    assert second.log.count("\n") == 1
    assert second.workers == []


@pytest.mark.parametrize(("host", "says"), [("203.0.113.7", "no such address"), ("nowhere.invalid", "has no address")])
def test_an_address_that_cannot_be_bound_is_named(host: str, says: str) -> None:
    with pytest.raises(StartError, match=f"{host}:8080.*{says}"):
        preflight.check_address(ListenAddress(host, 8080))


def test_a_host_name_and_an_empty_host_become_numeric_addresses() -> None:
    assert preflight.check_address(ListenAddress("localhost", free_port())) == "127.0.0.1"
    assert preflight.check_address(ListenAddress("", free_port())) in {"::", "0.0.0.0"}


def test_the_data_folder_is_created_for_its_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"

    preflight.check_folders(settings.load({"TIDINGS_DATA_DIR": str(folder)}))

    assert folder.stat().st_mode & 0o777 == 0o700
    assert list(folder.iterdir()) == []


def test_the_error_names_a_data_folder_that_cannot_be_created_or_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    for folder in (file, file / "data", Path("/proc/tidings"), Path("/proc")):
        with pytest.raises(StartError, match=f"{folder}"):
            preflight.check_folders(settings.load({"TIDINGS_DATA_DIR": str(folder)}))


def test_the_folder_of_a_database_outside_of_the_data_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="does not exist"):
        preflight.check_folders(settings.load({"TIDINGS_DATABASE_URL": f"sqlite:///{tmp_path}/missing/a.db"}))


def test_no_folder_is_needed_on_postgresql(tmp_path: Path) -> None:
    folder = tmp_path / "data"

    preflight.check_folders(
        settings.load({"TIDINGS_DATA_DIR": str(folder), "TIDINGS_DATABASE_URL": "postgresql://db/tidings"})
    )

    assert not folder.exists()
