"""Imports an account of another reader: an archive is built from it first, and imported like our own.

So the source is read completely before anything is stored, and repeating an import does not duplicate anything.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection

from tidings.archives.account_export import Progress
from tidings.archives.account_import import AccountImport
from tidings.archives.archive_builder import ArchiveBuilder
from tidings.archives.import_runs import AccountImportReport
from tidings.archives.parts import DEFAULT_PARTS, ArchivePart
from tidings.archives.source import AccountSource
from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.domain.accounts.users import User
from tidings.services.clock import Clock


class ForeignImport:
    def __init__(self, account_import: AccountImport, clock: Clock) -> None:
        self._account_import = account_import
        self._clock = clock

    def store(
        self,
        user: User,
        source: AccountSource,
        progress: Progress,
        *,
        parts: Collection[ArchivePart] = DEFAULT_PARTS,
    ) -> AccountImportReport:
        """Add the content of another reader's account to the user's account, as `AccountImport.store` does.

        progress: called with the steps done and their total: each entry is read, and then stored. The temporary file
        is as large as an archive. Raises InvalidInput and FetchError, with nothing stored.
        """
        builder = ArchiveBuilder(source, [])
        with tempfile.TemporaryFile(prefix="tidings-import-") as file:
            try:
                builder.write(file, now=self._clock(), progress=lambda done, total: progress(done, 2 * total))
            except RecursionError as error:
                raise InvalidInput(msg("This cannot be imported: it is nested too deeply.")) from error
            file.seek(0)
            report = self._account_import.store(
                user, file, lambda done, total: progress(total + done, 2 * total), parts=parts, is_checked=True
            )
        report.problems = [*source.problems, *builder.problems, *report.problems]
        return report
