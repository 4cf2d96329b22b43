"""`tidings user …`: add, list and remove users, and set their passwords."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from tidings.commands.application import LoadedSettings, open_application, prepare
from tidings.commands.terminal import confirm, read_password, say
from tidings.settings import Settings

if TYPE_CHECKING:
    from tidings.services.accounts.users import Users

user = App(name="user", help="Add, list and remove users, and set their passwords.")

PasswordFile = Annotated[Path | None, Parameter(name="--password-file")]


@contextmanager
def _users(settings: Settings) -> Iterator[Users]:
    prepare(settings)
    with open_application(settings) as application:
        application.check()
        yield application.services.accounts.users


@user.command
def add(
    name: str,
    /,
    *,
    admin: Annotated[bool, Parameter(negative="")] = False,
    password_file: PasswordFile = None,
    loaded: LoadedSettings,
) -> int:
    """Add a user. The password is asked for, or read from a pipe.

    Parameters
    ----------
    name
        The username, to sign in with.
    admin
        Make the user an administrator, who may manage other users.
    password_file
        Take the password from the first line of this file.
    """
    with _users(loaded.settings) as users:
        # Before asking for the password, which is not needed if the name is taken.
        users.require_free(name)
        added = users.create(name, read_password(name, password_file), is_admin=admin)
    say(f"Added {added.username}{' as an administrator' if added.is_admin else ''}.")
    return 0


@user.command(name="list")
def list_users(*, loaded: LoadedSettings) -> int:
    """List all users, one per line: id, name, and "admin" for administrators."""
    with _users(loaded.settings) as users:
        for user in users.list_all():
            say("\t".join([str(user.id), user.username, *(["admin"] if user.is_admin else [])]))
    return 0


@user.command
def passwd(name: str, /, *, password_file: PasswordFile = None, loaded: LoadedSettings) -> int:
    """Set a new password. It is asked for, or read from a pipe.

    Parameters
    ----------
    name
        The username.
    password_file
        Take the password from the first line of this file.
    """
    with _users(loaded.settings) as users:
        users.find(name)
        users.set_password(name, read_password(name, password_file))
    say(f"{name} has a new password.")
    return 0


@user.command
def reset(
    name: str,
    /,
    *,
    password_file: PasswordFile = None,
    second_factor: Annotated[bool, Parameter(name="--second-factor", negative="")] = False,
    link: Annotated[bool, Parameter(negative="")] = False,
    loaded: LoadedSettings,
) -> int:
    """Let a user in who cannot sign in any more: set a new password, and sign out all browsers.

    Parameters
    ----------
    name
        The username.
    password_file
        Take the password from the first line of this file. Otherwise it is asked for, or read from a pipe.
    second_factor
        Remove passkeys, one-time codes and recovery codes too.
    link
        Keep the password, and print a link instead, with which the user signs in once within an hour. Without it, too,
        if passwords of accounts are switched off.
    """
    prepare(loaded.settings)
    with open_application(loaded.settings) as application:
        application.check()
        services = application.services
        services.accounts.users.find(name)
        if second_factor:
            removed = services.accounts.users.remove_second_factors(name)
            say(f"Removed {removed} second factors of {name}." if removed else f"{name} has no second factor.")
        if link or not services.accounts.ways.accepts_passwords:
            address = f"{loaded.settings.base_url.rstrip('/')}/sign-in/link/{services.sign_in.links.make_sign_in(name)}"
            say(f"With this link {name} signs in once within an hour:\n{address}")
            return 0
        services.accounts.users.set_password(name, read_password(name, password_file))
    say(f"{name} has a new password. All browsers are signed out.")
    return 0


@user.command
def remove(name: str, /, *, yes: Annotated[bool, Parameter(negative="")] = False, loaded: LoadedSettings) -> int:
    """Remove a user, with all their feeds, entries and stars.

    Parameters
    ----------
    name
        The username.
    yes
        Do not ask for confirmation.
    """
    with _users(loaded.settings) as users:
        users.find(name)
        if not yes and not confirm(f"Remove {name} with all feeds, entries and stars?"):
            say("Nothing was changed.")
            return 1
        users.remove(name)
    say(f"Removed {name}.")
    return 0
