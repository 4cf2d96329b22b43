"""Codes and answers that arrive several times at the same moment count once, on both engines."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pyotp import TOTP

from loopback.authenticator import Authenticator
from tidings.base.errors import InvalidInput
from tidings.base.times import MINUTE, SECOND, Instant
from tidings.domain.accounts.events import AccountEvent, EventKind, Method, Origin
from tidings.domain.accounts.users import User
from tidings.engine.database import Database, Write
from tidings.services.accounts.users import Users
from tidings.services.accounts.ways import AccountWays, LastWayIn
from tidings.services.clock import system_clock
from tidings.services.listeners import Listeners
from tidings.sign_in.codes.second_factors import SET_UP_PATH, STEP_PATH, SecondFactors, WrongCode
from tidings.sign_in.passkeys import passkey_store
from tidings.sign_in.passkeys.ceremonies import AnswerRefused
from tidings.sign_in.passkeys.passkeys import Passkeys
from tidings.sign_in.passkeys.relying_party import relying_party

ORIGIN = "https://reader.example.org"
HERE = Origin("192.0.2.1", "tests")


class Household:
    """What a process of the service has, with a clock of its own."""

    def __init__(self, database: Database, *, admins_need_one: bool = False) -> None:
        self.database = database
        self.now = Instant(system_clock())
        self.events: list[AccountEvent] = []
        listeners = Listeners()
        listeners.account_events.append(self._note)
        self.users = Users(database, self.clock, listeners)
        self.factors = SecondFactors(database, self.clock, listeners, issuer="Tidings", admins_need_one=admins_need_one)
        ways = AccountWays(database, listeners)
        rp = relying_party(ORIGIN)
        self.passkeys = Passkeys(database, self.clock, listeners, ways=ways, factors=self.factors, rp=rp)
        listeners.account_ways.append(self.passkeys.account_ways)

    def clock(self) -> Instant:
        return self.now

    def step(self, user: User, method: Method = Method.PASSWORD) -> str | None:
        with self.database.reading() as db:
            return self.factors.next_step(db, user, method)

    def add_passkey(self, user: User, **more: Any) -> Authenticator:
        device = Authenticator(ORIGIN, **more)
        answer = device.create(self.passkeys.creation_options(user, "browser"))
        self.passkeys.add(user, answer, "", browser="browser", origin=HERE)
        return device

    def _note(self, _db: Write, event: AccountEvent) -> None:
        self.events.append(event)


@pytest.fixture
def house(database: Database) -> Household:
    return Household(database)


@pytest.fixture
def alice(house: Household) -> User:
    return house.users.create("alice", "correct horse")


def successes(do: Callable[[], object]) -> int:
    """How many of four calls at the same time are not refused."""

    def is_accepted(_number: int) -> bool:
        try:
            do()
        except InvalidInput:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        return sum(pool.map(is_accepted, range(4)))


def test_a_code_that_is_sent_four_times_at_once_counts_once(house: Household, alice: User) -> None:
    app = TOTP(house.factors.new_secret())
    house.factors.set_app(alice, app.secret, app.at(house.now // SECOND), HERE)
    house.now = Instant(house.now + MINUTE)
    code = app.at(house.now // SECOND)

    assert successes(lambda: house.factors.use_code(alice, code)) == 1


def test_a_recovery_code_that_is_sent_four_times_at_once_counts_once(house: Household, alice: User) -> None:
    app = TOTP(house.factors.new_secret())
    codes = house.factors.set_app(alice, app.secret, app.at(house.now // SECOND), HERE)

    assert successes(lambda: house.factors.use_code(alice, codes[0])) == 1
    assert house.factors.use_code(alice, codes[1]) is Method.RECOVERY_CODE
    assert house.factors.state(alice).codes_left == 8


@pytest.mark.parametrize("count", [None, 1])
def test_an_answer_that_is_sent_four_times_at_once_counts_once(
    house: Household, alice: User, count: int | None
) -> None:
    device = house.add_passkey(alice, count=count)
    answer = device.get(house.passkeys.request_options("browser"))
    owner = house.passkeys.owner(answer)

    assert successes(lambda: house.passkeys.use(owner, answer, browser="browser", is_second_step=False)) == 1
    (stored,) = house.passkeys.list_all(alice.id)
    assert (stored.last_used_at, stored.sign_count) == (house.now, device.count or 0)


def test_an_answer_is_too_late_after_five_minutes(house: Household, alice: User) -> None:
    device = house.add_passkey(alice)
    answer = device.get(house.passkeys.request_options("browser"))
    owner = house.passkeys.owner(answer)
    house.now = Instant(house.now + 5 * MINUTE)

    with pytest.raises(AnswerRefused, match="took too long"):
        house.passkeys.use(owner, answer, browser="browser", is_second_step=False)


def test_the_answer_for_a_sign_in_is_not_a_second_step_nor_the_reverse(house: Household, alice: User) -> None:
    device = house.add_passkey(alice)
    alone = device.get(house.passkeys.request_options("browser"))
    second = device.get(house.passkeys.step_options(alice.id, "browser"))
    owner = house.passkeys.owner(alone)

    for answer, is_second_step in ((alone, True), (second, False)):
        with pytest.raises(AnswerRefused):
            house.passkeys.use(owner, answer, browser="browser", is_second_step=is_second_step)
    house.passkeys.use(owner, second, browser="browser", is_second_step=True)


def test_an_authenticator_that_names_another_user_is_refused(house: Household, alice: User) -> None:
    device = house.add_passkey(alice)
    device.user_handle = b"somebody else"

    with pytest.raises(AnswerRefused):
        house.passkeys.owner(device.get(house.passkeys.request_options("browser")))


def test_used_challenges_are_removed_when_they_have_expired(house: Household, alice: User) -> None:
    house.add_passkey(alice)

    with house.database.writing() as db:
        assert passkey_store.remove_expired(db, house.now, 10) == 0
        assert passkey_store.remove_expired(db, Instant(house.now + 6 * MINUTE), 10) == 1


def test_the_last_way_into_an_account_stays(house: Household) -> None:
    bob = house.users.create("bob", None)
    house.add_passkey(bob)
    house.add_passkey(bob, credential_id=b"a key that works after a password only", flags=1)
    first, key = house.passkeys.list_all(bob.id)

    with pytest.raises(LastWayIn):
        house.passkeys.remove(bob, first.id, HERE)
    house.passkeys.remove(bob, key.id, HERE)
    house.add_passkey(bob, credential_id=b"another phone")
    house.passkeys.remove(bob, first.id, HERE)

    assert len(house.passkeys.list_all(bob.id)) == 1


def test_what_changes_second_factors_is_told(house: Household, alice: User) -> None:
    app = TOTP(house.factors.new_secret())
    house.factors.set_app(alice, app.secret, app.at(house.now // SECOND), HERE)
    house.add_passkey(alice)
    house.passkeys.remove(alice, house.passkeys.list_all(alice.id)[0].id, HERE)
    house.factors.new_codes(alice, HERE)
    house.factors.remove_app(alice, HERE)

    told = [(event.kind, event.detail) for event in house.events if event.user_id == alice.id]

    assert told[-5:] == [
        (EventKind.FACTOR_ADDED, "authenticator app"),
        (EventKind.PASSKEY_ADDED, "Passkey"),
        (EventKind.PASSKEY_REMOVED, "Passkey"),
        (EventKind.FACTOR_ADDED, "recovery codes"),
        (EventKind.FACTOR_REMOVED, "authenticator app"),
    ]


def test_a_second_factor_follows_passwords_only(house: Household, alice: User) -> None:
    app = TOTP(house.factors.new_secret())
    assert house.step(alice) is None
    house.factors.set_app(alice, app.secret, app.at(house.now // SECOND), HERE)

    steps = {method: house.step(alice, method) for method in Method}

    assert {method for method, path in steps.items() if path} == {Method.PASSWORD, Method.LINK}
    assert steps[Method.PASSWORD] == STEP_PATH


def test_where_administrators_need_one_a_passkey_is_enough_and_counts_for_nobody_else(database: Database) -> None:
    house = Household(database, admins_need_one=True)
    charlie = house.users.create("charlie", "correct horse", is_admin=True)
    bob = house.users.create("bob", "correct horse")

    assert (house.step(charlie), house.step(bob)) == (SET_UP_PATH, None)
    house.add_passkey(charlie)
    house.add_passkey(bob, credential_id=b"the phone of bob")
    assert (house.step(charlie), house.step(bob)) == (STEP_PATH, None)
    app = TOTP(house.factors.new_secret())
    with pytest.raises(InvalidInput, match="already"):
        house.factors.set_first_app(charlie, app.secret, app.at(house.now // SECOND), HERE)


def test_wrong_codes_are_refused_without_an_app(house: Household, alice: User) -> None:
    for code in ("", "123456", "k3v7p-x8mna-qw2hf", "x" * 10_000, "\0" * 15):
        with pytest.raises(WrongCode):
            house.factors.use_code(alice, code)


def test_a_passkey_of_another_address_of_the_service_is_no_way_in(house: Household) -> None:
    bob = house.users.create("bob", None)
    house.add_passkey(bob)
    moved = Household(house.database)
    moved.passkeys.rp = relying_party("https://new.example.org")

    with house.database.reading() as db:
        assert [way.method for way in house.passkeys.account_ways(db, bob)] == [Method.PASSKEY]
        assert moved.passkeys.account_ways(db, bob) == []
    assert json.dumps(moved.passkeys.request_options("browser")).count("new.example.org") == 1
