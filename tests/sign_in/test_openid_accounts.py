"""Whose account an identity opens, and what the groups of the provider decide."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from sqlalchemy import bindparam, select

from tidings.base.errors import NotFound
from tidings.domain.accounts.events import AccountEvent, EventKind, Method, Origin
from tidings.domain.accounts.users import User
from tidings.engine.database import Database
from tidings.services.accounts.sessions import Sessions
from tidings.services.accounts.users import Users
from tidings.services.accounts.ways import LastWayIn
from tidings.services.clock import system_clock
from tidings.services.listeners import Listeners
from tidings.sign_in.openid.accounts import NameTaken, OpenIdAccounts, note_of
from tidings.sign_in.openid.claims import Profile, Subject
from tidings.sign_in.openid.errors import NotAdmitted
from tidings.sign_in.openid.provider import OpenIdConfig
from tidings.storage.schema import users as user_rows

ISSUER = "https://auth.example.org"
ORIGIN = Origin("192.0.2.1", "tests", Method.OPENID)
CONFIG = OpenIdConfig(
    provider="oidc",
    name="Example ID",
    issuer=ISSUER,
    client_id="tidings",
    client_secret="secret",
    redirect_url="",
    base_url="",
    scopes="openid",
    groups_claim="groups",
    allowed_groups=None,
    admin_groups=None,
    creates_users=True,
)


PASSWORD_HASH = select(user_rows.c.password_hash).where(user_rows.c.id == bindparam("user"))


def profile(subject: str, name: str = "", *groups: str, issuer: str = ISSUER, sid: str = "") -> Profile:
    return Profile(issuer, subject, name, name or subject, groups, sid, "an.id.token")


@pytest.fixture
def events() -> list[AccountEvent]:
    return []


@pytest.fixture
def listeners(events: list[AccountEvent]) -> Listeners:
    return Listeners(account_events=[lambda _db, event: events.append(event)])


@pytest.fixture
def users(database: Database, listeners: Listeners) -> Users:
    return Users(database, system_clock, listeners)


@pytest.fixture
def make(database: Database, users: Users, listeners: Listeners) -> Callable[..., OpenIdAccounts]:
    def made(**more: object) -> OpenIdAccounts:
        accounts = OpenIdAccounts(replace(CONFIG, **more), database, system_clock, listeners, users=users)
        listeners.account_ways[:] = [accounts.ways_of]
        return accounts

    return made


def test_the_identity_is_issuer_and_subject(make: Callable[..., OpenIdAccounts]) -> None:
    accounts = make()
    alice = accounts.sign_in(profile("1", "alice"), ORIGIN)

    assert accounts.sign_in(profile("1", "renamed"), ORIGIN).id == alice.id
    assert accounts.sign_in(profile("1", ""), ORIGIN).username == "alice"
    assert accounts.sign_in(profile("1", "other", issuer="https://other.example"), ORIGIN).id != alice.id


@pytest.mark.parametrize("subject", ["2", "1 ", "A", ""])
def test_a_name_never_opens_an_account(make: Callable[..., OpenIdAccounts], users: Users, subject: str) -> None:
    """Not even where the account names the subject itself: its user may have written that."""
    users.create("alice", "a long password", openid_connect_id=subject)

    with pytest.raises(NameTaken):
        make().sign_in(profile(subject, "alice"), ORIGIN)


def test_a_new_account_has_no_password(make: Callable[..., OpenIdAccounts], database: Database) -> None:
    alice = make().sign_in(profile("1", "alice"), ORIGIN)
    with database.reading() as db:
        stored = db.scalar(PASSWORD_HASH, user=alice.id)

    assert stored.startswith("!")


def test_without_creation_only_known_identities_come_in(make: Callable[..., OpenIdAccounts]) -> None:
    make().sign_in(profile("1", "alice"), ORIGIN)
    accounts = make(creates_users=False)

    assert accounts.sign_in(profile("1"), ORIGIN).username == "alice"
    with pytest.raises(NotAdmitted, match="no account here"):
        accounts.sign_in(profile("2", "bob"), ORIGIN)


def test_only_members_of_allowed_groups_come_in(make: Callable[..., OpenIdAccounts]) -> None:
    accounts = make(allowed_groups=frozenset({"readers", "staff"}))
    alice = accounts.sign_in(profile("1", "alice", "staff", "others"), ORIGIN)

    for call in (
        lambda: accounts.sign_in(profile("1", "alice", "others"), ORIGIN),
        lambda: accounts.sign_in(profile("2", "bob"), ORIGIN),
        lambda: accounts.confirm(profile("1", "alice"), alice),
        lambda: accounts.link(profile("2", "bob", "Readers"), alice, ORIGIN),
    ):
        with pytest.raises(NotAdmitted, match="none of the groups"):
            call()


def test_groups_decide_who_administers(make: Callable[..., OpenIdAccounts], users: Users) -> None:
    users.create("root", "a long password", is_admin=True)
    accounts = make(admin_groups=frozenset({"admins"}))

    assert not accounts.sign_in(profile("1", "alice", "readers"), ORIGIN).is_admin
    assert accounts.sign_in(profile("1", "alice", "admins"), ORIGIN).is_admin
    assert not accounts.sign_in(profile("1", "alice"), ORIGIN).is_admin
    assert accounts.sign_in(profile("2", "bob", "admins"), ORIGIN).is_admin


def test_the_last_administrator_stays_one(make: Callable[..., OpenIdAccounts]) -> None:
    accounts = make(admin_groups=frozenset({"admins"}))
    accounts.sign_in(profile("1", "alice", "admins"), ORIGIN)

    assert accounts.sign_in(profile("1", "alice"), ORIGIN).is_admin


def test_without_groups_of_administrators_the_role_stays(make: Callable[..., OpenIdAccounts], users: Users) -> None:
    accounts = make()
    root = users.create("root", "a long password", is_admin=True)
    accounts.link(profile("1"), root, ORIGIN)

    assert accounts.sign_in(profile("1"), ORIGIN).is_admin


def test_an_identity_belongs_to_one_account(make: Callable[..., OpenIdAccounts], users: Users) -> None:
    accounts = make()
    alice, bob = (users.create(name, "a long password") for name in ("alice", "bob"))
    accounts.link(profile("1"), alice, ORIGIN)
    accounts.link(profile("1"), alice, ORIGIN)

    with pytest.raises(NotAdmitted, match="another account"):
        accounts.link(profile("1"), bob, ORIGIN)
    with pytest.raises(NotAdmitted, match="someone else"):
        accounts.confirm(profile("1"), bob)
    assert [one.subject for one in accounts.list_all(alice.id)] == ["1"]
    assert accounts.list_all(bob.id) == []


def test_unlinking(make: Callable[..., OpenIdAccounts], users: Users) -> None:
    accounts = make()
    alice, bob = (users.create(name, "a long password") for name in ("alice", "bob"))
    accounts.link(profile("1"), alice, ORIGIN)
    (identity,) = accounts.list_all(alice.id)

    with pytest.raises(NotFound):
        accounts.unlink(bob, identity.id, ORIGIN)
    accounts.unlink(alice, identity.id, ORIGIN)
    assert accounts.list_all(alice.id) == []


def test_the_last_way_in_stays(make: Callable[..., OpenIdAccounts]) -> None:
    accounts = make()
    alice = accounts.sign_in(profile("1", "alice"), ORIGIN)
    accounts.link(profile("2"), alice, ORIGIN)
    one, other = accounts.list_all(alice.id)
    accounts.unlink(alice, one.id, ORIGIN)

    with pytest.raises(LastWayIn):
        accounts.unlink(alice, other.id, ORIGIN)


def test_what_happens_is_told(make: Callable[..., OpenIdAccounts], events: list[AccountEvent]) -> None:
    accounts = make(admin_groups=frozenset({"admins"}))
    accounts.sign_in(profile("1", "root", "admins"), ORIGIN)
    alice = accounts.sign_in(profile("2", "alice"), ORIGIN)
    accounts.link(profile("3"), alice, ORIGIN)
    accounts.unlink(alice, accounts.list_all(alice.id)[0].id, ORIGIN)
    accounts.sign_in(profile("3", "", "admins"), ORIGIN)

    assert [(event.kind, event.user_id) for event in events[2:]] == [
        (EventKind.USER_CREATED, alice.id),
        (EventKind.IDENTITY_LINKED, alice.id),
        (EventKind.IDENTITY_LINKED, alice.id),
        (EventKind.IDENTITY_UNLINKED, alice.id),
        (EventKind.USER_CHANGED, alice.id),
    ]


def begin(
    accounts: OpenIdAccounts, sessions: Sessions, listeners: Listeners, user: User, signed_in: Profile
) -> Callable[[], bool]:
    """Begin a session as the pages do. Returns a function that tells whether it goes on."""
    listeners.account_events[:] = [accounts.remember_session]
    token = sessions.begin(user, ORIGIN, note=note_of(signed_in))
    return lambda: sessions.recognise(token) is not None


def test_the_provider_ends_its_own_sessions_only(
    make: Callable[..., OpenIdAccounts], database: Database, listeners: Listeners
) -> None:
    accounts, sessions = make(), Sessions(database, system_clock, listeners)
    alice, bob = (accounts.sign_in(profile(name, name), ORIGIN) for name in ("alice", "bob"))
    one, other, of_bob, local = (
        begin(accounts, sessions, listeners, user, signed_in)
        for user, signed_in in (
            (alice, profile("alice", sid="s1")),
            (alice, profile("alice", sid="s2")),
            (bob, profile("bob", sid="s1", issuer="https://other.example")),
            (bob, profile("bob", sid="s3")),
        )
    )

    assert accounts.end_sessions(Subject(ISSUER, "", "s1"), ORIGIN) == 1
    assert (one(), other(), of_bob(), local()) == (False, True, True, True)
    assert accounts.end_sessions(Subject(ISSUER, "bob", "s2"), ORIGIN) == 0
    assert accounts.end_sessions(Subject(ISSUER, "alice"), ORIGIN) == 1
    assert (other(), of_bob(), local()) == (False, True, True)


def test_a_very_long_token_is_not_kept() -> None:
    short, long = profile("1"), replace(profile("1"), id_token="a" * 20_000)

    assert "an.id.token" in note_of(short)
    assert len(note_of(long)) < 500
