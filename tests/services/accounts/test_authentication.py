"""Failed sign-ins count in all processes; who signed in before is not shut out; operators hear of refusals."""

from __future__ import annotations

from contextlib import suppress

import pytest
from sqlalchemy import event
from structlog.testing import capture_logs

from support.people import PASSWORD
from tidings.base.errors import Unauthorized
from tidings.base.times import DAY, MINUTE, SECOND, Instant
from tidings.domain.accounts.events import Method, Origin
from tidings.domain.errors import SignInThrottled
from tidings.engine.database import Database
from tidings.services.accounts.authentication import Authentication, Credentials
from tidings.services.accounts.users import Users
from tidings.storage.accounts import users

HOME = "192.0.2.1"
NOW = Instant(1_800_000_000 * SECOND)


def clock() -> Instant:
    """Stand still: waits become shorter with the time that a busy machine takes for the attempts of a test."""
    return NOW


@pytest.fixture
def processes(database: Database) -> list[Authentication]:
    """Of two processes over one database, with a user called alice."""
    Users(database, clock).create("alice", PASSWORD)
    return [Authentication(database, clock) for _ in range(2)]


def credentials(name: str = "alice", password: str = "guess", address: str = HOME, browser: str = "") -> Credentials:
    return Credentials(username=name, password=password, address=address, browser=browser)


def fail(process: Authentication, credentials: Credentials, times: int = 1) -> None:
    for _ in range(times):
        process.start_attempt(credentials)
        with pytest.raises(Unauthorized):
            process.verify(credentials)


def test_failures_in_one_process_count_in_the_others(processes: list[Authentication]) -> None:
    one, other = processes
    fail(one, credentials(), 7)

    assert [other.start_attempt(credentials()) for _ in range(2)][1] > 0


@pytest.mark.slow
def test_one_password_tried_on_many_names_becomes_slow(processes: list[Authentication]) -> None:
    one, other = processes
    for number in range(14):
        fail(one, credentials(f"name{number}"))

    assert max(other.start_attempt(credentials(f"another{number}")) for number in range(3)) > 0


def test_one_name_tried_from_many_networks_becomes_slow_and_is_refused(processes: list[Authentication]) -> None:
    one, other = processes
    for number in range(14):
        fail(one, credentials(address=f"198.51.101.{number}"))

    waits = [other.start_attempt(credentials(address=f"198.51.100.{number}")) for number in range(4)]
    assert waits[-1] > waits[1] > 0
    # With twenty seconds of others before it, an attempt is refused at once.
    for number in range(4, 12):
        with suppress(SignInThrottled):
            other.start_attempt(credentials(address=f"198.51.100.{number}"))
    with pytest.raises(SignInThrottled) as refused:
        other.start_attempt(credentials(address="198.51.100.99"))
    assert refused.value.retry_after_s > 0


def test_a_new_browser_can_sign_in_while_another_network_guesses(processes: list[Authentication]) -> None:
    one, other = processes
    for number in range(60):
        with suppress(SignInThrottled):
            fail(processes[number % 2], credentials(address="203.0.113.7"))

    mistyped, owner = credentials(address="192.0.2.9"), credentials(password=PASSWORD, address="192.0.2.9")
    for _ in range(2):
        assert one.start_attempt(mistyped) == 0
        with pytest.raises(Unauthorized):
            one.verify(mistyped)
    assert other.start_attempt(owner) == 0
    assert other.verify(owner).username == "alice"
    with pytest.raises(SignInThrottled, match="API keys"):
        one.start_attempt(credentials(address="203.0.113.7"))


def test_a_trusted_browser_can_sign_in_while_others_guess(processes: list[Authentication]) -> None:
    one, other = processes
    alice = one.verify(credentials(password=PASSWORD))
    browser = one.remember_browser(alice.id, "")
    for _ in range(40):
        with suppress(SignInThrottled):
            fail(one, credentials())

    owner = credentials(password=PASSWORD, browser=browser)
    assert other.start_attempt(owner) == 0
    assert other.verify(owner).username == "alice"
    assert other.remember_browser(alice.id, browser) == browser
    id_, _, signature = browser.partition(".")
    for forged in ("", "x", f"{id_}.{signature[::-1]}", f"other.{signature}"):
        with pytest.raises(SignInThrottled):
            one.start_attempt(credentials(password=PASSWORD, browser=forged))


def test_a_new_password_ends_the_trust_in_browsers(processes: list[Authentication], database: Database) -> None:
    one, _ = processes
    alice = Users(database, clock).find("alice")
    browser = one.remember_browser(alice.id, "")
    Users(database, clock).set_password("alice", "battery staple")

    assert one.remember_browser(alice.id, browser) != browser


def test_a_success_deletes_stored_failures_and_writes_none_without(
    processes: list[Authentication], database: Database
) -> None:
    one, other = processes
    statements: list[str] = []
    event.listen(database.engine, "before_cursor_execute", lambda *told: statements.append(told[2]))

    for process in processes:
        process.start_attempt(credentials(password=PASSWORD))
        process.verify(credentials(password=PASSWORD))
    assert not [sql for sql in statements if "sign_in_failures" in sql and not sql.lstrip().startswith("SELECT")]

    fail(one, credentials(), 4)
    other.start_attempt(credentials(password=PASSWORD))
    other.verify(credentials(password=PASSWORD))
    fail(one, credentials(), 4)
    assert [one.start_attempt(credentials()) for _ in range(2)] == [0, 0]


def test_refusals_are_logged_at_a_limited_rate_without_the_password(processes: list[Authentication]) -> None:
    one, _ = processes
    with capture_logs() as lines:
        for number in range(30):
            one.refuse("wrong name or password", origin=Origin(HOME), method=Method.PASSWORD, username=f"name{number}")
        fail(processes[1], credentials(password="hunter22"))

    refused = [line for line in lines if line["event"] == "sign-in refused"]
    assert [line["username"] for line in refused] == [*(f"name{number}" for number in range(20)), "alice"]
    assert refused[-1]["address"] == HOME
    assert "hunter22" not in str(lines)


def test_the_time_of_the_last_login_is_written_once_in_a_while(database: Database) -> None:
    """Once a minute; once a day where each server of a distributed database has a copy and writes it."""
    now = NOW
    times = [now]
    user = Users(database, clock).create("alice", PASSWORD)
    authentication = Authentication(database, lambda: times[-1])
    every = DAY if database.is_distributed else MINUTE

    def last_login_after(microseconds: int) -> Instant | None:
        times.append(Instant(now + microseconds))
        authentication.verify_alone(credentials(password=PASSWORD))
        with database.reading() as db:
            found = users.get(db, user.id)
        return found.last_login_at if found else None

    assert last_login_after(0) == now
    assert last_login_after(every) == now
    assert last_login_after(every + 1) == now + every + 1
