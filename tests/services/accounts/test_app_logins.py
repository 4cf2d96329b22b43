"""Logins of apps: tokens of the Google Reader API and keys of the Fever API, derived from stored digests."""

from __future__ import annotations

import hashlib

import pytest
from structlog.testing import capture_logs

from support.people import PASSWORD
from tidings.domain.accounts.users import User
from tidings.domain.errors import SignInThrottled, Unauthorized
from tidings.domain.times import MINUTE, Instant
from tidings.services.accounts.api_passwords import ApiPasswords
from tidings.services.accounts.app_logins import AppLogins
from tidings.services.accounts.authentication import Authentication, Credentials
from tidings.services.accounts.users import Users
from tidings.services.clock import system_clock
from tidings.storage.accounts import server_secrets
from tidings.storage.engine.database import Database

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
        credentials = given(username, password)
        login = self.logins.recognise(credentials)
        if login is None:
            self.logins.start_attempt(credentials)
            login = self.logins.verify(credentials)
        return login.token

    def is_let_in(self, token: str) -> bool:
        try:
            self.logins.by_token(token, HOME)
        except Unauthorized:
            return False
        return True


def given(username: str, password: str) -> Credentials:
    return Credentials(username=username, password=password, address=HOME)


@pytest.fixture
def here(database: Database) -> Process:
    return Process(database)


@pytest.fixture
def there(database: Database, here: Process) -> Process:
    """Another process over the same database."""
    return Process(database)


@pytest.fixture
def alice(here: Process) -> User:
    return here.users.create("alice", PASSWORD)


def test_the_token_of_an_api_password_is_the_same_in_every_process(here: Process, there: Process, alice: User) -> None:
    password = here.passwords.create(alice, "Reeder").password

    token = here.token("alice", password)

    assert token.partition("/")[0] == "alice"
    assert there.token(" Alice ".strip(), password) == token
    assert there.logins.by_token(token, HOME).user.id == alice.id


def test_each_password_has_a_token_of_its_own_which_dies_with_it(here: Process, there: Process, alice: User) -> None:
    made = {name: here.passwords.create(alice, name) for name in ("phone", "tablet")}
    tokens = {name: here.token("alice", one.password) for name, one in made.items()}
    assert tokens["phone"] != tokens["tablet"]

    here.passwords.delete(alice.id, made["phone"].stored.id)

    assert not there.is_let_in(tokens["phone"])
    assert there.is_let_in(tokens["tablet"])
    with pytest.raises(Unauthorized):
        there.token("alice", made["phone"].password)


def test_the_account_s_password_works_until_it_is_changed(here: Process, there: Process, alice: User) -> None:
    token = here.token("alice", PASSWORD)
    assert there.token("alice", PASSWORD) == token
    assert there.is_let_in(token)

    here.users.set_password("alice", "another horse")

    assert not there.is_let_in(token)
    assert here.token("alice", "another horse") != token


def test_a_user_may_forbid_the_account_s_password_to_apps(here: Process, alice: User) -> None:
    password = here.passwords.create(alice, "Reeder").password
    tokens = [here.token("alice", PASSWORD), here.token("alice", password)]

    here.users.update(alice, alice.id, {"allow_account_password_in_apps": False})

    assert [here.is_let_in(token) for token in tokens] == [False, True]
    assert here.token("alice", password) == tokens[1]
    with pytest.raises(Unauthorized):
        here.token("alice", PASSWORD)


@pytest.mark.parametrize("token", ["", "/", "alice", "alice/", "/0", "bob/{digits}", "alice/{digits}0", "alice/\ud800"])
def test_no_other_token_is_let_in(here: Process, alice: User, token: str) -> None:
    here.users.create("bob", PASSWORD)
    digits = here.token("alice", PASSWORD).partition("/")[2]

    assert not here.is_let_in(token.replace("{digits}", digits))


def test_failed_logins_are_slowed_down_and_then_refused(here: Process, there: Process, alice: User) -> None:
    for process in (here, there) * 8:
        try:
            process.token(alice.username, "guess")
        except (Unauthorized, SignInThrottled):
            continue

    with pytest.raises(SignInThrottled):
        attempt_many_times(there)


def attempt_many_times(process: Process) -> None:
    for _ in range(40):
        process.logins.start_attempt(given("alice", "guess"))


def test_a_fever_key_is_found_by_the_digest_of_it(here: Process, there: Process, alice: User) -> None:
    made = here.passwords.create(alice, "Unread")
    key = hashlib.md5(f"alice:{made.password}".encode(), usedforsecurity=False).hexdigest()

    for sent in (key, key.upper()):
        found = there.logins.by_fever_key(sent, HOME)
        assert found is not None
        assert (found.user.id, found.password_id) == (alice.id, made.stored.id)
    assert there.logins.by_fever_key("0" * 32, HOME) is None
    of_account = hashlib.md5(f"alice:{PASSWORD}".encode(), usedforsecurity=False).hexdigest()
    assert there.logins.by_fever_key(of_account, HOME) is None

    here.passwords.delete(alice.id, made.stored.id)
    assert there.logins.by_fever_key(key, HOME) is None


def test_use_is_noted_once_a_minute(here: Process, alice: User) -> None:
    password = here.passwords.create(alice, "Reeder").password
    began = here.now

    def used_at() -> Instant | None:
        return here.passwords.list_all(alice.id)[0].last_used_at

    assert used_at() is None
    token = here.token("alice", password)
    assert used_at() == began
    here.now = Instant(began + MINUTE // 2)
    here.logins.by_token(token, HOME)
    assert used_at() == began
    here.now = Instant(began + 2 * MINUTE)
    here.logins.by_token(token, HOME)
    assert used_at() == here.now


def test_nothing_that_lets_anybody_in_is_stored_or_logged(database: Database, here: Process, alice: User) -> None:
    with capture_logs() as lines:
        made = here.passwords.create(alice, "Reeder")
        key = hashlib.md5(f"alice:{made.password}".encode(), usedforsecurity=False).hexdigest()
        token = here.token("alice", made.password)
        here.is_let_in(token[:-1] + "x")
        here.logins.by_fever_key(key[:-1] + "x", HOME)

    with database.reading() as db:
        stored = here.passwords.list_all(alice.id)[0]
        secret = server_secrets.get(db, server_secrets.APP_LOGINS)
    assert secret is not None
    assert len(secret) == 32
    digits = token.partition("/")[2]
    assert stored.password_digest.hex() not in (digits, hashlib.sha256(made.password.encode()).hexdigest())
    text = repr(lines) + repr(made) + repr(here.logins.by_token(token, HOME))
    assert [line["reason"] for line in lines] == ["unknown token", "unknown Fever key"]
    for hidden in (made.password, key[:-1], digits[:-1]):
        assert hidden not in text
