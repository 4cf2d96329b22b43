"""`tidings export` and `tidings import`: an account as a file."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tidings.commands.application import LoadedSettings, open_application, prepare
from tidings.commands.terminal import progress_bar, read_secret, say
from tidings.domain.archives import records
from tidings.domain.errors import StartError

if TYPE_CHECKING:
    from tidings.domain.accounts.users import User
    from tidings.services.archives.account_import import AccountImportReport
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
        # Written under another name first: a file with the final name is always complete.
        partial = path.with_name(f"{path.name}.part")
        if path.exists():
            raise StartError(f"The archive {path} cannot be written: File exists")
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


class Source(StrEnum):
    """Where an account is imported from."""

    TIDINGS = "tidings"
    MINIFLUX = "miniflux"
    FRESHRSS = "freshrss"
    FEEDBIN = "feedbin"
    INSTAPAPER = "instapaper"
    OMNIVORE = "omnivore"
    POCKET = "pocket"


def import_account(
    username: str,
    path: Path | None = None,
    *,
    source: Annotated[Source, Parameter(name="--from")] = Source.TIDINGS,
    url: Annotated[str, Parameter(name="--url")] = "",
    api_key_file: Annotated[Path | None, Parameter(name="--api-key-file", negative="")] = None,
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
        The file to read.
    source
        What is imported: a file of `tidings` or of another reader, or an account of a running `miniflux`.
    url
        Miniflux only: the address of the server. It may be in a private network.
    api_key_file
        Miniflux only: a file whose first line is an API key. Without it, the key is asked for, or read from stdin.
    """
    prepare(loaded.settings)
    with open_application(loaded.settings) as application:
        application.check()
        user = application.services.users.find(username)
        if source is Source.MINIFLUX:
            report = _import_from_server(application, user, url, api_key_file)
        else:
            report = _import_file(application, user, path, source)
    say(f"Feeds: {report.new_feeds} new, {report.known_feeds} already there")
    say(
        f"Entries: {report.new_entries} new, {report.known_entries} already there, "
        f"{report.deleted_entries} left out because they were deleted here"
    )
    for problem in report.problems:
        say(f"Not imported: {problem}")
    return 1 if report.problems else 0


def _import_file(application: Application, user: User, path: Path | None, source: Source) -> AccountImportReport:
    if path is None:
        raise StartError("tidings import needs the file to read: tidings import USER FILE")
    try:
        with path.open("rb") as file, progress_bar("Importing entries") as progress:
            if source is Source.TIDINGS:
                return application.services.account_import.store(user, file, progress)
            with application.file_source(path, source) as content:
                return application.services.foreign_import.store(user, content, progress)
    except OSError as error:
        raise StartError(f"The file {path} cannot be read: {error.strerror}") from error


def _import_from_server(
    application: Application, user: User, url: str, api_key_file: Path | None
) -> AccountImportReport:
    if not url:
        raise StartError("An import from Miniflux needs --url, the address of the server")
    api_key = read_secret("API key", api_key_file)
    with application.miniflux_source(url, api_key) as source, progress_bar("Importing entries") as progress:
        return application.services.foreign_import.store(user, source, progress)
