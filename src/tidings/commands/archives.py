"""`tidings export` and `tidings import`: an account as a file."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

from cyclopts import Parameter

from tidings.archives import records
from tidings.archives.parts import DEFAULT_PARTS, SECURITY, ArchivePart, chosen_parts
from tidings.archives.source import ImportSource
from tidings.base.errors import StartError, TidingsError
from tidings.commands.application import LoadedSettings, open_application, prepare
from tidings.commands.terminal import confirm, progress_bar, read_secret, say

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from contextlib import AbstractContextManager

    from tidings.archives.import_runs import AccountImportReport
    from tidings.archives.parts import ImportReview
    from tidings.archives.source import AccountSource
    from tidings.domain.accounts.users import User
    from tidings.wiring.application import Application


def export_account(
    username: str,
    path: Path,
    *,
    secrets: Annotated[bool, Parameter(name="--secrets", negative="")] = False,
    loaded: LoadedSettings,
) -> int:
    """Write the account of a user to a new file, which only its owner may read.

    The ZIP file holds settings, categories, feeds with their settings, all entries with content and state, and
    integrations. Tidings may keep running. docs/archive.md describes the format.

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
        user = application.services.accounts.users.find(username)
        if path.exists():
            raise StartError(f"The archive {path} cannot be written: File exists; choose another name, or remove it")
        # Written under a temporary name first: a file with the final name is always complete.
        partial = path.with_name(f"{path.name}.part")
        try:
            descriptor = os.open(partial, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
            with os.fdopen(descriptor, "wb") as file, progress_bar("Exporting entries") as progress:
                manifest = application.services.archives.account_export.write(
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


# Prefixes of the address of a database.
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
    apply: Annotated[str, Parameter(name="--apply")] = "",
    loaded: LoadedSettings,
) -> int:
    """Add an archive, which `tidings export` wrote, or what another reader has, to the account of a user.

    Tidings may keep running. What is damaged or cannot be read changes nothing. An import that was interrupted can be
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
    apply
        What is applied besides feeds and entries: any of settings, rules, scripts and integrations, separated by
        commas, or all or none. Without it, the command asks at a terminal about a file of Tidings, and applies the
        settings alone otherwise. Settings that protect the account are never applied.
    """
    prepare(loaded.settings)
    parts = chosen_parts([apply])
    with open_application(loaded.settings) as application:
        application.check()
        user = application.services.accounts.users.find(username)
        with _told(application, user, source, path, url) as tell:
            if path.startswith(_DATABASES):
                report = _import_database(application, user, path, source, from_user, parts)
            elif source is ImportSource.MINIFLUX:
                report = _import_from_miniflux(application, user, url, api_key_file, parts)
            elif source is ImportSource.TINY_TINY_RSS:
                report = _import_from_ttrss(application, user, url, from_user, password_file)
            else:
                asks = not apply and sys.stdin.isatty()
                report = _import_file(application, user, Path(path) if path else None, source, parts, asks=asks)
            tell(report)
    say(f"Feeds: {report.new_feeds} new, {report.known_feeds} already there")
    say(
        f"Entries: {report.new_entries} new, {report.known_entries} already there, "
        f"{report.deleted_entries} left out because they were deleted here"
    )
    for problem in report.problems:
        say(f"Not imported: {_printable(problem)}")
    for line in _left_off(report):
        say(line)
    return 1 if report.problems else 0


@contextmanager
def _told(
    application: Application, user: User, source: ImportSource, path: str, url: str
) -> Iterator[Callable[[AccountImportReport], None]]:
    """Tell that an import has ended: with what is given to the function, or why it failed."""
    from tidings.services.listeners import FinishedImport

    is_database = path.startswith(_DATABASES)
    reader = ImportSource.MINIFLUX if is_database and source is ImportSource.TIDINGS else source
    # The address of a database or a server may have a password in it.
    origin = (urlsplit(path or url).hostname or "") if is_database or not path else Path(path).name
    tell = application.services.archives.account_import.tell_finished
    try:
        yield lambda report: tell(report.finished(user.id, reader, origin))
    except StartError:
        # It has not begun.
        raise
    except TidingsError as error:
        tell(FinishedImport(user_id=user.id, source=reader, origin=origin, error=error.message))
        raise


# What the command asks about each part.
_QUESTIONS: Final = {
    ArchivePart.SETTINGS: "Apply these settings of the account?",
    ArchivePart.RULES: "Apply these filters and rules to new entries of all feeds?",
    ArchivePart.SCRIPTS: "Apply these scripts, styles and fonts on every page? A script can do all that you can.",
    ArchivePart.INTEGRATIONS: "Switch these on? They send entries or requests to other hosts.",
}
# Maximum number of characters of a value in a question.
_MAX_SHOWN_CHARS: Final = 60


def _ask(review: ImportReview) -> frozenset[ArchivePart]:
    """Show what an archive would change, and return the parts that the person wants."""
    chosen = set()
    for part in review.parts:
        for change in review.changes:
            if change.part == part:
                of_feed = f" of {_printable(change.feed)}" if change.feed else ""
                say(f"  {change.name}{of_feed}: {_value(change.after)}")
        if confirm(_QUESTIONS[part]):
            chosen.add(part)
    return frozenset(chosen)


def _value(value: object) -> str:
    text = _printable(str(value))
    return f"{text[:_MAX_SHOWN_CHARS]} …" if len(text) > _MAX_SHOWN_CHARS else text


def _printable(text: str) -> str:
    """Return a text of a file on one line, without what would control the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()))


def _left_off(report: AccountImportReport) -> Iterator[str]:
    """Yield a line for everything that was not asked for, and where to switch it on."""
    for left in report.left_off:
        of_feeds = f" of {left.feed_count} feeds" if left.feed_count else ""
        if left.part == SECURITY:
            yield f"Left as it is: {left.name}{of_feeds}, which no import changes; change it on the pages"
        else:
            yield f"Left off: {left.name}{of_feeds}; switch it on on the pages, or import with --apply {left.part}"


def _import_database(
    application: Application,
    user: User,
    dsn: str,
    source: ImportSource,
    from_user: str,
    parts: Collection[ArchivePart],
) -> AccountImportReport:
    reader = ImportSource.MINIFLUX if source is ImportSource.TIDINGS else source
    return _store(application, user, application.database_source(dsn, reader, from_user), parts)


def _import_file(
    application: Application,
    user: User,
    path: Path | None,
    source: ImportSource,
    parts: Collection[ArchivePart],
    *,
    asks: bool,
) -> AccountImportReport:
    if path is None:
        raise StartError("tidings import needs the file to read: tidings import USER FILE")
    try:
        if source is ImportSource.TIDINGS:
            with path.open("rb") as file:
                if asks:
                    parts = _ask(application.services.archives.account_import.review(user, file))
                with progress_bar("Importing entries") as progress:
                    return application.services.archives.account_import.store(user, file, progress, parts=parts)
        return _store(application, user, application.file_source(path, source), parts)
    except OSError as error:
        raise StartError(f"The file {path} cannot be read: {error.strerror}") from error


def _import_from_miniflux(
    application: Application, user: User, url: str, api_key_file: Path | None, parts: Collection[ArchivePart]
) -> AccountImportReport:
    if not url:
        raise StartError("An import from Miniflux needs --url, the address of the server")
    api_key = read_secret("API key", api_key_file)
    return _store(application, user, application.miniflux_source(url, api_key, is_operator=True), parts)


def _import_from_ttrss(
    application: Application, user: User, url: str, from_user: str, password_file: Path | None
) -> AccountImportReport:
    if not url or not from_user:
        raise StartError("An import from Tiny Tiny RSS needs --url, the address of the server, and --from-user")
    password = read_secret("password", password_file)
    return _store(
        application, user, application.ttrss_source(url, from_user, password, is_operator=True), DEFAULT_PARTS
    )


def _store(
    application: Application,
    user: User,
    source: AbstractContextManager[AccountSource],
    parts: Collection[ArchivePart],
) -> AccountImportReport:
    with source as account, progress_bar("Importing entries") as progress:
        return application.services.archives.foreign_import.store(user, account, progress, parts=parts)
