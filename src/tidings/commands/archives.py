"""`tidings export` and `tidings import`: an account as a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from tidings.commands.application import LoadedSettings, open_application, prepare
from tidings.commands.terminal import progress_bar, read_secret, say
from tidings.domain.archives import records
from tidings.domain.archives.sources import ImportSource
from tidings.domain.errors import StartError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tidings.domain.accounts.users import User
    from tidings.domain.archives.import_runs import AccountImportReport
    from tidings.domain.archives.sources import AccountSource
    from tidings.wiring import Application


def export_account(
    username: str,
    path: Path,
    *,
    secrets: Annotated[bool, Parameter(name="--secrets", negative="")] = False,
    loaded: LoadedSettings,
) -> int:
    """Write the account of a user to a new file, which only its owner may read.

    The ZIP file holds settings, categories, feeds with their settings, all entries with content and state, and
    integrations. Tidings may run meanwhile. docs/archive.md describes the format.

    Parameters
    ----------
    username
        The user to export.
    path
        The file to write. It must not exist.
    secrets
        Also write the passwords of feeds and the secrets of integrations.
    """
    prepare(loaded.settings)
    with open_application(loaded.settings) as application:
        application.check()
        user = application.services.users.find(username)
        if path.exists():
            raise StartError(f"The archive {path} cannot be written: File exists; choose another name, or remove it")
        # Written under another name first: a file with the final name is always complete.
        partial = path.with_name(f"{path.name}.part")
        try:
            descriptor = os.open(partial, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
            with os.fdopen(descriptor, "wb") as file, progress_bar("Exporting entries") as progress:
                manifest = application.services.account_export.write(
                    user, file, with_secrets=secrets, progress=progress
                )
            partial.rename(path)
        except OSError as error:
            raise StartError(f"The archive {path} cannot be written: {error.strerror}") from error
        finally:
            partial.unlink(missing_ok=True)
    counts = manifest.counts
    say(f"Exported to {path}: {counts[records.FEEDS]} feeds, {counts[records.ENTRIES]} entries")
    return 0


# How the address of a database begins.
_DATABASES: Final = ("postgres://", "postgresql://")


def import_account(
    username: str,
    path: str = "",
    *,
    source: Annotated[ImportSource, Parameter(name="--from")] = ImportSource.TIDINGS,
    from_user: Annotated[str, Parameter(name="--from-user")] = "",
    url: Annotated[str, Parameter(name="--url")] = "",
    api_key_file: Annotated[Path | None, Parameter(name="--api-key-file", negative="")] = None,
    password_file: Annotated[Path | None, Parameter(name="--password-file", negative="")] = None,
    loaded: LoadedSettings,
) -> int:
    """Add an archive, which `tidings export` wrote, or what another reader has, to the account of a user.

    Tidings may run meanwhile. What is damaged or cannot be read changes nothing. An import that was interrupted can be
    repeated: what is stored already is not stored twice. docs/moving.md says what comes along from other readers.

    Parameters
    ----------
    username
        The user who receives the content. Create one with `tidings user add`.
    path
        The file to read, or the folder with the files of an export, or the database of Miniflux, as
        postgresql://USER@HOST/DATABASE.
    source
        What is imported: a file of `tidings` or of another reader, or an account of a running `miniflux` or
        `tiny-tiny-rss`.
    from_user
        Databases and Tiny Tiny RSS only: whose account it is there. A database with one user needs no name.
    url
        Miniflux and Tiny Tiny RSS only: the address of the server. It may be in a private network.
    api_key_file
        Miniflux only: a file whose first line is an API key. Without it, the key is asked for, or read from stdin.
    password_file
        Tiny Tiny RSS only: a file whose first line is the password. Without it, the password is asked for, or read from
        stdin.
    """
    prepare(loaded.settings)
    with open_application(loaded.settings) as application:
        application.check()
        user = application.services.users.find(username)
        if path.startswith(_DATABASES):
            report = _import_database(application, user, path, source, from_user)
        elif source is ImportSource.MINIFLUX:
            report = _import_from_miniflux(application, user, url, api_key_file)
        elif source is ImportSource.TINY_TINY_RSS:
            report = _import_from_ttrss(application, user, url, from_user, password_file)
        else:
            report = _import_file(application, user, Path(path) if path else None, source)
    say(f"Feeds: {report.new_feeds} new, {report.known_feeds} already there")
    say(
        f"Entries: {report.new_entries} new, {report.known_entries} already there, "
        f"{report.deleted_entries} left out because they were deleted here"
    )
    for problem in report.problems:
        say(f"Not imported: {problem}")
    return 1 if report.problems else 0


def _import_database(
    application: Application, user: User, dsn: str, source: ImportSource, from_user: str
) -> AccountImportReport:
    reader = ImportSource.MINIFLUX if source is ImportSource.TIDINGS else source
    return _store(application, user, application.database_source(dsn, reader, from_user))


def _import_file(application: Application, user: User, path: Path | None, source: ImportSource) -> AccountImportReport:
    if path is None:
        raise StartError("tidings import needs the file to read: tidings import USER FILE")
    try:
        if source is ImportSource.TIDINGS:
            with path.open("rb") as file, progress_bar("Importing entries") as progress:
                return application.services.account_import.store(user, file, progress)
        return _store(application, user, application.file_source(path, source))
    except OSError as error:
        raise StartError(f"The file {path} cannot be read: {error.strerror}") from error


def _import_from_miniflux(
    application: Application, user: User, url: str, api_key_file: Path | None
) -> AccountImportReport:
    if not url:
        raise StartError("An import from Miniflux needs --url, the address of the server")
    api_key = read_secret("API key", api_key_file)
    return _store(application, user, application.miniflux_source(url, api_key, is_operator=True))


def _import_from_ttrss(
    application: Application, user: User, url: str, from_user: str, password_file: Path | None
) -> AccountImportReport:
    if not url or not from_user:
        raise StartError("An import from Tiny Tiny RSS needs --url, the address of the server, and --from-user")
    password = read_secret("password", password_file)
    return _store(application, user, application.ttrss_source(url, from_user, password, is_operator=True))


def _store(application: Application, user: User, source: AbstractContextManager[AccountSource]) -> AccountImportReport:
    with source as account, progress_bar("Importing entries") as progress:
        return application.services.foreign_import.store(user, account, progress)
