"""`tidings user …`: accounts with passwords from a terminal, a pipe or a file."""

from __future__ import annotations

import pytest

from cli.commands import CTRL_C, CTRL_D, Tidings, error_line
from support.people import PASSWORD
from tidings.base.errors import Unauthorized
from tidings.domain.accounts.events import Origin
from tidings.services.accounts.authentication import Credentials
from tidings.storage.feeds import categories
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow


def may_sign_in(services: AllServices, username: str, password: str) -> bool:
    try:
        services.accounts.authentication.verify(Credentials(username=username, password=password, address="127.0.0.1"))
    except Unauthorized:
        return False
    return True


def names(services: AllServices) -> list[str]:
    return [one.username for one in services.accounts.users.list_all()]


def test_a_password_is_read_from_a_pipe_and_the_list_is_separated_by_tabs(
    tidings: Tidings, services: AllServices
) -> None:
    added = tidings("user", "add", "alice", "--admin", stdin="correct horse\nmore\n")
    bob = services.accounts.users.create("bob", PASSWORD)
    listed = tidings("user", "list")

    assert (added.returncode, added.stdout, added.stderr) == (0, "Added alice as an administrator.\n", "")
    assert may_sign_in(services, "alice", "correct horse")
    assert (listed.returncode, listed.stdout) == (0, f"{bob.id - 1}\talice\tadmin\n{bob.id}\tbob\n")


def test_a_password_is_read_from_a_file_and_replaces_the_old_one(tidings: Tidings, services: AllServices) -> None:
    services.accounts.users.create("alice", "an old password")
    file = tidings.folder / "password"
    file.write_text("correct horse\n", encoding="utf-8")

    done = tidings("user", "passwd", "alice", "--password-file", str(file))

    assert (done.returncode, done.stdout) == (0, "alice has a new password.\n")
    assert may_sign_in(services, "alice", "correct horse")
    assert not may_sign_in(services, "alice", "an old password")


def test_a_terminal_is_asked_twice_and_does_not_show_the_password(tidings: Tidings, services: AllServices) -> None:
    with tidings.on_a_terminal("user", "add", "alice") as terminal:
        terminal.answer("Password for alice:", "correct horse")
        terminal.answer("Repeat the password:", "correct horse")
        assert terminal.exit_code() == 0

    assert "Added alice." in terminal.seen
    assert "horse" not in terminal.seen
    assert may_sign_in(services, "alice", "correct horse")


def test_two_different_passwords_change_nothing(tidings: Tidings, services: AllServices) -> None:
    with tidings.on_a_terminal("user", "add", "alice") as terminal:
        terminal.answer("Password for alice:", "correct horse")
        terminal.answer("Repeat the password:", "correct house")
        assert terminal.exit_code() == 1

    assert "differ" in terminal.seen
    assert names(services) == []


def test_ctrl_d_at_a_question_is_no_answer(tidings: Tidings, services: AllServices) -> None:
    with tidings.on_a_terminal("user", "add", "alice") as terminal:
        terminal.wait_for("Password for alice: ")
        terminal.type(CTRL_D)
        assert terminal.exit_code() == 1

    assert "no password was given" in terminal.seen
    assert names(services) == []


def test_ctrl_c_at_a_question_changes_nothing_and_is_silent(tidings: Tidings, services: AllServices) -> None:
    with tidings.on_a_terminal("user", "add", "alice") as terminal:
        terminal.wait_for("Password for alice: ")
        terminal.type(CTRL_C)
        assert terminal.exit_code() == 130

    assert terminal.seen.strip() == "Password for alice:"
    assert names(services) == []


def test_removing_a_user_asks_for_confirmation_and_removes_all_data(tidings: Tidings, services: AllServices) -> None:
    bob = services.accounts.users.create("bob", PASSWORD)

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


def test_removing_a_user_without_a_terminal_requires_yes(tidings: Tidings, services: AllServices) -> None:
    services.accounts.users.create("bob", PASSWORD)

    assert "--yes" in error_line(tidings("user", "remove", "bob"), 1)
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
def test_an_impossible_change_gives_an_error_line_and_exit_code_1(
    tidings: Tidings, services: AllServices, arguments: list[str], says: str
) -> None:
    services.accounts.users.create("alice", PASSWORD, is_admin=True)

    assert says in error_line(tidings("user", *arguments, stdin="battery staple"), 1)
    assert names(services) == ["alice"]
    assert may_sign_in(services, "alice", PASSWORD)


def test_a_missing_password_gives_an_error_line_and_exit_code_1(tidings: Tidings, services: AllServices) -> None:
    services.accounts.users.create("bob", PASSWORD)

    assert "no password" in error_line(tidings("user", "add", "alice"), 1)
    assert "/nowhere" in error_line(tidings("user", "passwd", "bob", "--password-file", "/nowhere"), 1)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["add", "bob"], "already a user called 'bob'"),
        (["add", "no good name"], "username"),
        (["passwd", "charlie"], "no user called 'charlie'"),
        (["remove", "charlie"], "no user called 'charlie'"),
    ],
)
def test_a_name_that_is_taken_or_unknown_is_said_before_anything_is_asked(
    tidings: Tidings, services: AllServices, arguments: list[str], says: str
) -> None:
    services.accounts.users.create("bob", PASSWORD)

    with tidings.on_a_terminal("user", *arguments) as terminal:
        assert terminal.exit_code() == 1

    assert says in terminal.seen
    assert "Password for" not in terminal.seen
    assert "[y/N]" not in terminal.seen


def test_a_reset_sets_a_password_and_removes_the_second_factor(tidings: Tidings, services: AllServices) -> None:
    alice = services.accounts.users.create("alice", "an old password")
    token = services.accounts.sessions.begin(alice, Origin())

    done = tidings("user", "reset", "alice", "--second-factor", stdin="correct horse\n")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "alice has no second factor.\nalice has a new password. All browsers are signed out.\n"
    assert may_sign_in(services, "alice", "correct horse")
    assert services.accounts.sessions.recognise(token) is None


def test_a_reset_with_a_link_keeps_the_password(tidings: Tidings, services: AllServices) -> None:
    services.accounts.users.create("alice", PASSWORD)

    done = tidings("user", "reset", "alice", "--link")
    address = done.stdout.splitlines()[-1]

    assert done.returncode == 0
    assert "/sign-in/link/" in address
    assert may_sign_in(services, "alice", PASSWORD)
    assert services.sign_in.links.use_sign_in(address.rpartition("/")[2]).username == "alice"
    assert "bob" in error_line(tidings("user", "reset", "bob", "--link"), 1)
