"""`tidings user …`: what is typed, piped or kept in a file becomes accounts that work."""

from __future__ import annotations

import pytest

from cli.commands import CTRL_C, Tidings, complaint
from support.people import PASSWORD
from tidings.domain.errors import Unauthorized
from tidings.services import Services
from tidings.services.accounts.authentication import Credentials
from tidings.storage.feeds import categories


def may_sign_in(services: Services, username: str, password: str) -> bool:
    try:
        services.authentication.verify(Credentials(username=username, password=password, address="127.0.0.1"))
    except Unauthorized:
        return False
    return True


def names(services: Services) -> list[str]:
    return [one.username for one in services.users.list_all()]


def test_a_password_is_taken_from_a_pipe_and_the_list_can_be_taken_apart_by_a_script(
    tidings: Tidings, services: Services
) -> None:
    added = tidings("user", "add", "alice", "--admin", stdin="correct horse\nmore\n")
    bob = services.users.create("bob", PASSWORD)
    listed = tidings("user", "list")

    assert (added.returncode, added.stdout, added.stderr) == (0, "Added alice as an administrator.\n", "")
    assert may_sign_in(services, "alice", "correct horse")
    assert (listed.returncode, listed.stdout) == (0, f"{bob.id - 1}\talice\tadmin\n{bob.id}\tbob\n")


def test_a_password_is_taken_from_a_file_and_replaces_the_old_one(tidings: Tidings, services: Services) -> None:
    services.users.create("alice", "an old password")
    file = tidings.folder / "password"
    file.write_text("correct horse\n", encoding="utf-8")

    done = tidings("user", "passwd", "alice", "--password-file", str(file))

    assert (done.returncode, done.stdout) == (0, "alice has a new password.\n")
    assert may_sign_in(services, "alice", "correct horse")
    assert not may_sign_in(services, "alice", "an old password")


def test_a_terminal_is_asked_twice_and_does_not_show_the_password(tidings: Tidings, services: Services) -> None:
    with tidings.on_a_terminal("user", "add", "alice") as terminal:
        terminal.answer("Password for alice:", "correct horse")
        terminal.answer("again:", "correct horse")
        assert terminal.exit_code() == 0

    assert "Added alice." in terminal.seen
    assert "horse" not in terminal.seen
    assert may_sign_in(services, "alice", "correct horse")


def test_two_different_passwords_change_nothing(tidings: Tidings, services: Services) -> None:
    with tidings.on_a_terminal("user", "add", "alice") as terminal:
        terminal.answer("Password for alice:", "correct horse")
        terminal.answer("again:", "correct house")
        assert terminal.exit_code() == 1

    assert "differ" in terminal.seen
    assert names(services) == []


def test_ctrl_c_at_a_question_changes_nothing_and_is_silent(tidings: Tidings, services: Services) -> None:
    with tidings.on_a_terminal("user", "add", "alice") as terminal:
        terminal.wait_for("Password for alice: ")
        terminal.type(CTRL_C)
        assert terminal.exit_code() == 130

    assert terminal.seen.strip() == "Password for alice:"
    assert names(services) == []


def test_removing_is_asked_about_and_takes_everything_along(tidings: Tidings, services: Services) -> None:
    bob = services.users.create("bob", PASSWORD)

    with tidings.on_a_terminal("user", "remove", "bob") as hesitant:
        hesitant.answer("[y/N]", "")
        assert hesitant.exit_code() == 1
    assert "Nothing was changed." in hesitant.seen
    assert names(services) == ["bob"]

    with tidings.on_a_terminal("user", "remove", "bob") as sure:
        sure.answer("[y/N]", "y")
        assert sure.exit_code() == 0
    assert "Removed bob." in sure.seen
    assert names(services) == []
    with services.reading() as db:
        assert categories.list_all(db, bob.id) == []


def test_removing_without_anybody_to_ask_takes_a_yes(tidings: Tidings, services: Services) -> None:
    services.users.create("bob", PASSWORD)

    assert "--yes" in complaint(tidings("user", "remove", "bob"), 1)
    assert names(services) == ["bob"]

    assert tidings("user", "remove", "bob", "--yes").stdout == "Removed bob.\n"
    assert names(services) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["add", "alice"], "alice"),
        (["remove", "alice", "--yes"], "only administrator"),
        (["passwd", "charlie"], "charlie"),
    ],
    ids=["a name that is taken", "the only administrator", "a name that nobody has"],
)
def test_what_cannot_be_done_gives_a_line_and_exit_code_1(
    tidings: Tidings, services: Services, arguments: list[str], says: str
) -> None:
    services.users.create("alice", PASSWORD, is_admin=True)

    assert says in complaint(tidings("user", *arguments, stdin="battery staple"), 1)
    assert names(services) == ["alice"]
    assert may_sign_in(services, "alice", PASSWORD)


def test_no_password_gives_a_line_and_exit_code_1(bare: Tidings) -> None:
    assert "no password" in complaint(bare("user", "add", "alice"), 1)
    assert "/nowhere" in complaint(bare("user", "passwd", "alice", "--password-file", "/nowhere"), 1)
