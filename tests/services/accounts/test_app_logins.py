"""Logins of apps: tokens of the Google Reader API and keys of the Fever API, derived from stored digests."""

from __future__ import annotations

import hashlib

import pytest
from structlog.testing import capture_logs

from support.people import PASSWORD
from tidings.base.errors import Unauthorized
from tidings.base.times import MINUTE, Instant
from tidings.domain.accounts.events import Origin
from tidings.domain.accounts.users import User
from tidings.domain.errors import SignInThrottled
from tidings.engine.database import Database
from tidings.services.accounts.api_passwords import ApiPasswords
from tidings.services.accounts.app_logins import AppLogins
from tidings.services.accounts.authentication import Authentication, Credentials
from tidings.services.accounts.users import Users
from tidings.services.clock import system_clock
from tidings.storage.accounts import server_secrets

HOME = "192.0.2.1"


class Process:
    """What one process of the service has."""

    def __init__(self, database: Database) -> None:
        self.now = Instant(system_clock())
        self.users = Users(database, self.clock)
        self.passwords = ApiPasswords(database, self.clock)
        self.logins = AppLogins(database, self.clock, Authentication(database, self.clock))

    def clock(self) -> Instant:
        return self.now

    def token(self, username: str, password: str) -> str:
        """As ClientLogin does: quickly where that works, slowly otherwise."""
        credentials = login_credentials(username, password)
        login = self.logins.recognise(credentials)
        if login is None:
            self.logins.start_attempt(credentials)
            login = self.logins.verify(credentials)
        return login.token

    def is_accepted(self, token: str) -> bool:
        try:
            self.logins.by_token(token, Origin(HOME))
        except Unauthorized:
            return False
        return True


def login_credentials(username: str, password: str) -> Credentials:
    return Credentials(username=username, password=password, address=HOME)


@pytest.fixture
def first_process(database: Database) -> Process:
    return Process(database)


@pytest.fixture
def second_process(database: Database, first_process: Process) -> Process:
    """Another process over the same database."""
    return Process(database)


@pytest.fixture
def alice(first_process: Process) -> User:
    return first_process.users.create("alice", PASSWORD)


def test_the_token_of_an_api_password_is_the_same_in_every_process(
    first_process: Process, second_process: Process, alice: User
) -> None:
    password = first_process.passwords.create(alice, "Reeder").password

    token = first_process.token("alice", password)

    assert token.partition("/")[0] == "alice"
    assert second_process.token(" Alice ".strip(), password) == token
    assert second_process.logins.by_token(token, Origin(HOME)).user.id == alice.id


def test_each_password_has_its_own_token_which_ends_with_it(
    first_process: Process, second_process: Process, alice: User
) -> None:
    created = {name: first_process.passwords.create(alice, name) for name in ("phone", "tablet")}
    tokens = {name: first_process.token("alice", one.password) for name, one in created.items()}
    assert tokens["phone"] != tokens["tablet"]

    first_process.passwords.delete(alice, created["phone"].stored.id)

    assert not second_process.is_accepted(tokens["phone"])
    assert second_process.is_accepted(tokens["tablet"])
    with pytest.raises(Unauthorized):
        second_process.token("alice", created["phone"].password)


def test_the_account_s_password_works_until_it_is_changed(
    first_process: Process, second_process: Process, alice: User
) -> None:
    token = first_process.token("alice", PASSWORD)
    assert second_process.token("alice", PASSWORD) == token
    assert second_process.is_accepted(token)

    first_process.users.set_password("alice", "another horse")

    assert not second_process.is_accepted(token)
    assert first_process.token("alice", "another horse") != token


def test_a_user_can_disable_the_account_password_for_apps(first_process: Process, alice: User) -> None:
    password = first_process.passwords.create(alice, "Reeder").password
    tokens = [first_process.token("alice", PASSWORD), first_process.token("alice", password)]

    first_process.users.update(alice, alice.id, {"allow_account_password_in_apps": False})

    assert [first_process.is_accepted(token) for token in tokens] == [False, True]
    assert first_process.token("alice", password) == tokens[1]
    with pytest.raises(Unauthorized):
        first_process.token("alice", PASSWORD)


@pytest.mark.parametrize("token", ["", "/", "alice", "alice/", "/0", "bob/{digits}", "alice/{digits}0", "alice/\ud800"])
def test_other_tokens_are_refused(first_process: Process, alice: User, token: str) -> None:
    first_process.users.create("bob", PASSWORD)
    digits = first_process.token("alice", PASSWORD).partition("/")[2]

    assert not first_process.is_accepted(token.replace("{digits}", digits))


def test_failed_logins_are_slowed_down_and_then_refused(
    first_process: Process, second_process: Process, alice: User
) -> None:
    for process in (first_process, second_process) * 8:
        try:
            process.token(alice.username, "guess")
        except (Unauthorized, SignInThrottled):
            continue

    with pytest.raises(SignInThrottled):
        attempt_many_times(second_process)


def attempt_many_times(process: Process) -> None:
    for _ in range(40):
        process.logins.start_attempt(login_credentials("alice", "guess"))


def test_a_fever_key_is_found_by_its_digest(first_process: Process, second_process: Process, alice: User) -> None:
    created = first_process.passwords.create(alice, "Unread")
    key = hashlib.md5(f"alice:{created.password}".encode(), usedforsecurity=False).hexdigest()

    for sent in (key, key.upper()):
        found = second_process.logins.by_fever_key(sent, Origin(HOME))
        assert found is not None
        assert (found.user.id, found.password_id) == (alice.id, created.stored.id)
    assert second_process.logins.by_fever_key("0" * 32, Origin(HOME)) is None
    of_account = hashlib.md5(f"alice:{PASSWORD}".encode(), usedforsecurity=False).hexdigest()
    assert second_process.logins.by_fever_key(of_account, Origin(HOME)) is None

    first_process.passwords.delete(alice, created.stored.id)
    assert second_process.logins.by_fever_key(key, Origin(HOME)) is None


def test_the_time_of_use_is_stored_once_a_minute(first_process: Process, alice: User) -> None:
    password = first_process.passwords.create(alice, "Reeder").password
    began = first_process.now

    def used_at() -> Instant | None:
        return first_process.passwords.list_all(alice.id)[0].last_used_at

    assert used_at() is None
    token = first_process.token("alice", password)
    assert used_at() == began
    first_process.now = Instant(began + MINUTE // 2)
    first_process.logins.by_token(token, Origin(HOME))
    assert used_at() == began
    first_process.now = Instant(began + 2 * MINUTE)
    first_process.logins.by_token(token, Origin(HOME))
    assert used_at() == first_process.now


def test_a_name_is_recognised_as_keyboards_type_it(first_process: Process) -> None:
    user = first_process.users.create("zoë", PASSWORD)
    password = first_process.passwords.create(user, "Reeder").password

    for typed in ("zoë", "Zoë", " zoe\u0308 "):
        login = first_process.logins.recognise(login_credentials(typed, password))
        assert login is not None, typed
        assert login.user.id == user.id


def test_no_credential_is_stored_or_logged(database: Database, first_process: Process, alice: User) -> None:
    with capture_logs() as lines:
        created = first_process.passwords.create(alice, "Reeder")
        key = hashlib.md5(f"alice:{created.password}".encode(), usedforsecurity=False).hexdigest()
        token = first_process.token("alice", created.password)
        first_process.is_accepted(token[:-1] + "x")
        # An API password in the field of the token, and a secret of another service.
        first_process.is_accepted(created.password)
        first_process.is_accepted("c2Vj/cmV0")
        first_process.logins.by_fever_key(key[:-1] + "x", Origin(HOME))

    with database.reading() as db:
        stored = first_process.passwords.list_all(alice.id)[0]
        secret = server_secrets.get(db, server_secrets.APP_LOGINS)
    assert secret is not None
    assert len(secret) == 32
    digits = token.partition("/")[2]
    assert stored.password_digest.hex() not in (digits, hashlib.sha256(created.password.encode()).hexdigest())
    text = repr(lines) + repr(created) + repr(first_process.logins.by_token(token, Origin(HOME)))
    assert [line["reason"] for line in lines] == ["unknown token"] * 3 + ["unknown Fever key"]
    for hidden in (created.password, key[:-1], digits[:-1], "c2Vj"):
        assert hidden not in text
