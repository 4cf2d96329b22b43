"""What every way of signing in ends with: a session, or a second step."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.people import PASSWORD, Person
from support.running import RunningService
from support.visitors import Visitor
from tidings.base.errors import Unauthorized
from tidings.base.times import MINUTE, Instant
from tidings.domain.accounts.events import Method, Origin
from tidings.domain.accounts.sessions import is_fresh
from tidings.domain.errors import SignInThrottled
from tidings.engine.database import Database
from tidings.services.accounts.app_logins import AppLogins
from tidings.services.accounts.authentication import Authentication, Credentials
from tidings.services.accounts.sessions import PendingSignIns, Sessions
from tidings.services.accounts.users import Users
from tidings.services.accounts.ways import AccountWays, LastWayIn
from tidings.services.listeners import AccountWay, Listeners

HERE = Origin("192.0.2.1", "a browser", Method.PASSWORD)


class Account:
    """Alice, with services that share listeners and a clock."""

    def __init__(self, database: Database) -> None:
        self.now = Instant(1_700_000_000_000_000)
        self.database = database
        self.listeners = Listeners()
        self.users = Users(database, self.clock, self.listeners)
        self.sessions = Sessions(database, self.clock, self.listeners)
        self.pending = PendingSignIns(database, self.clock)
        self.authentication = Authentication(database, self.clock, self.listeners)
        self.ways = AccountWays(database, self.listeners)
        self.alice = self.users.create("alice", PASSWORD)

    def clock(self) -> Instant:
        return self.now


@pytest.fixture
def account(database: Database) -> Account:
    return Account(database)


def test_a_session_remembers_how_it_began_and_is_fresh_for_ten_minutes(account: Account) -> None:
    signed_in = account.sessions.recognise(account.sessions.begin(account.alice, HERE, second=Method.CODE))

    assert signed_in is not None
    assert signed_in.session.method == "password+code"
    assert is_fresh(signed_in.session, Instant(account.now + 9 * MINUTE))
    assert not is_fresh(signed_in.session, Instant(account.now + 10 * MINUTE))


def test_a_new_proof_gives_the_session_another_token(account: Account) -> None:
    before = account.sessions.begin(account.alice, HERE)
    signed_in = account.sessions.recognise(before)
    account.now = Instant(account.now + 20 * MINUTE)
    after = account.sessions.recognise(account.sessions.begin(account.alice, HERE, before=signed_in))

    assert account.sessions.recognise(before) is None
    assert signed_in is not None
    assert after is not None
    assert after.session.id == signed_in.session.id
    assert is_fresh(after.session, account.now)


def test_another_user_ends_the_session_of_the_browser(account: Account) -> None:
    before = account.sessions.begin(account.alice, HERE)
    bob = account.users.create("bob", PASSWORD)
    account.sessions.begin(bob, HERE, before=account.sessions.recognise(before))

    assert account.sessions.recognise(before) is None


def test_a_pending_sign_in_is_used_once_and_ends_after_ten_minutes(account: Account) -> None:
    tokens = [
        account.pending.begin(account.alice.id, Method.PASSWORD, next_path="/starred", is_shared=False)
        for _ in range(2)
    ]
    found = account.pending.find(tokens[0])
    assert found is not None
    assert (found[0].username, found[1].next) == ("alice", "/starred")
    assert account.sessions.recognise(tokens[0]) is None
    assert [account.pending.use(found[1]), account.pending.use(found[1])] == [True, False]
    assert account.pending.find(tokens[0]) is None
    account.now = Instant(account.now + 10 * MINUTE)
    assert account.pending.find(tokens[1]) is None


def test_a_password_alone_is_refused_where_a_second_step_is_needed(account: Account) -> None:
    sent = Credentials(username="alice", password=PASSWORD, address="192.0.2.1")
    logins = AppLogins(account.database, account.clock, account.authentication, account.listeners)
    token = logins.verify(sent).token
    assert account.authentication.recognise(sent) is not None

    account.listeners.second_steps.append(lambda _db, _user, _method: "/sign-in/code")

    assert account.authentication.recognise(sent) is None
    with pytest.raises(Unauthorized, match="second step"):
        account.authentication.verify_alone(sent)
    with pytest.raises(Unauthorized, match="second step"):
        logins.verify(sent)
    with pytest.raises(Unauthorized):
        logins.by_token(token, HERE)
    assert account.authentication.verify(sent).username == "alice"


def test_a_right_password_does_not_clear_failed_codes(account: Account) -> None:
    def try_code() -> float:
        attempt = account.authentication.begin_attempt(Method.CODE, user=account.alice, origin=HERE)
        attempt.failed("wrong code")
        return attempt.wait_s

    assert [try_code() for _ in range(5)] == [0] * 5
    sent = Credentials(username="alice", password=PASSWORD, address="192.0.2.1")
    account.authentication.start_attempt(sent)
    account.authentication.verify(sent)
    waits = [try_code(), try_code(), try_code()]
    assert waits[1] > 0
    with pytest.raises(SignInThrottled):
        try_many(try_code)


def try_many(try_code: Callable[[], float]) -> None:
    for _ in range(12):
        try_code()


def test_the_last_way_into_an_account_stays(account: Account) -> None:
    listed = [AccountWay(method=Method.PASSKEY, id=number) for number in (1, 2)]
    account.listeners.account_ways.append(lambda _db, _user: listed)
    keyholder = account.users.create("bob", None)

    with account.database.writing() as db:
        account.ways.ensure_another(db, account.alice, Method.PASSWORD)
        account.ways.ensure_another(db, keyholder, Method.PASSKEY, 1)
        listed.pop()
        with pytest.raises(LastWayIn):
            account.ways.ensure_another(db, keyholder, Method.PASSKEY, 1)
        account.ways.ensure_another(db, account.alice, Method.PASSKEY, 1)
    assert not account.ways.has_password(keyholder.id)
    with pytest.raises(Unauthorized):
        account.authentication.verify(Credentials(username="bob", password="", address="192.0.2.1"))


def test_a_signed_in_user_confirms_with_the_password(service: RunningService, alice: Person) -> None:
    visitor = Visitor(service, alice)
    visitor.sign_in()
    before = visitor.cookies["tidings_session"]
    page = visitor.page("/sign-in?confirm=1&next=/settings")
    assert "Confirm that it is you" in page

    assert visitor.post("/sign-in", password="wrong").status == 400
    answer = visitor.post("/sign-in", password=PASSWORD, username="somebody else", next="/settings")

    assert answer.headers["location"] == "/settings"
    assert visitor.cookies["tidings_session"] != before


def test_signing_out_everywhere_ends_this_browser_too(service: RunningService, alice: Person) -> None:
    here, there = Visitor(service, alice), Visitor(service, alice)
    here.sign_in()
    there.sign_in()
    here.page("/settings/security")

    assert here.post("/settings/sessions/end-others", here="1").headers["location"] == "/sign-in"
    assert there.get("/settings").headers["location"].startswith("/sign-in")
