"""What holds between accounts when there are few of them: the database is the test's own."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tidings.base.errors import InvalidInput
from tidings.engine.database import Database
from tidings.services.accounts.users import Users
from tidings.services.clock import system_clock


@pytest.fixture
def users(database: Database) -> Users:
    return Users(database, system_clock)


def test_the_only_administrator_cannot_be_demoted_or_deleted(users: Users) -> None:
    charlie = users.create("charlie", "secret", is_admin=True)
    users.create("alice", "secret")

    with pytest.raises(InvalidInput, match="only administrator"):
        users.update(charlie, charlie.id, {"is_admin": False})
    with pytest.raises(InvalidInput, match="only administrator"):
        users.remove("charlie")

    assert [user.is_admin for user in users.list_all()] == [False, True]


def test_an_administrator_can_step_down_when_there_is_another(users: Users) -> None:
    charlie = users.create("charlie", "secret", is_admin=True)
    users.create("erin", "secret", is_admin=True)

    assert not users.update(charlie, charlie.id, {"is_admin": False}).is_admin


def test_two_administrators_who_demote_each_other_concurrently_leave_one(users: Users) -> None:
    charlie, erin = (users.create(name, "secret", is_admin=True) for name in ("charlie", "erin"))

    for _ in range(5):
        outcomes = concurrently(
            lambda: users.update(charlie, erin.id, {"is_admin": False}),
            lambda: users.update(erin, charlie.id, {"is_admin": False}),
        )

        assert [user.is_admin for user in users.list_all()].count(True) == 1
        assert outcomes.count(InvalidInput) == 1
        for user in users.list_all():
            users.update(charlie, user.id, {"is_admin": True})


def concurrently(*calls: Callable[[], object]) -> list[type[Exception] | None]:
    """What each of the calls raised, if anything."""
    barrier = threading.Barrier(len(calls))
    outcomes: list[type[Exception] | None] = [None] * len(calls)

    def run(number: int, call: Callable[[], object]) -> None:
        barrier.wait()
        try:
            call()
        except InvalidInput as error:
            outcomes[number] = type(error)

    threads = [threading.Thread(target=run, args=(number, call)) for number, call in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes
