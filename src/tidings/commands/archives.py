"""`tidings export` and `tidings import`: an account as a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tidings.commands.application import LoadedSettings, open_application, prepare
from tidings.commands.terminal import progress_bar, say
from tidings.domain.archives import records
from tidings.domain.errors import StartError


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


def import_account(username: str, path: Path, *, loaded: LoadedSettings) -> int:
    """Add the content of an archive, which `tidings export` wrote, to the account of a user.

    Tidings may run meanwhile. A damaged archive changes nothing. An import that was interrupted can be repeated: what
    is stored already is not stored twice.

    Parameters
    ----------
    username
        The user who receives the content. Create one with `tidings user add`.
    path
        The file to read.
    """
    prepare(loaded.settings)
    with open_application(loaded.settings) as application:
        application.check()
        user = application.services.users.find(username)
        try:
            file = path.open("rb")
        except OSError as error:
            raise StartError(f"The archive {path} cannot be read: {error.strerror}") from error
        with file, progress_bar("Importing entries") as progress:
            report = application.services.account_import.store(user, file, progress)
    say(f"Feeds: {report.new_feeds} new, {report.known_feeds} already there")
    say(
        f"Entries: {report.new_entries} new, {report.known_entries} already there, "
        f"{report.deleted_entries} left out because they were deleted here"
    )
    for problem in report.problems:
        say(f"Not imported: {problem}")
    return 1 if report.problems else 0
