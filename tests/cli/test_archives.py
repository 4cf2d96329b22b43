"""`tidings export` and `tidings import`."""

from __future__ import annotations

import stat
import zipfile

from cli.commands import Tidings, error_line
from support.people import PASSWORD
from tidings.services import Services


def test_an_account_is_exported_and_imported(tidings: Tidings, services: Services) -> None:
    alice = services.users.create("alice", PASSWORD)
    services.users.create("bob", PASSWORD)
    services.opml.import_(
        alice.id, b'<opml version="2.0"><body><outline text="x" xmlUrl="https://example.org/feed"/></body></opml>'
    )
    target = tidings.folder / "alice.zip"

    exported = tidings("export", "alice", str(target))
    imported = tidings("import", "bob", str(target))

    assert (exported.returncode, exported.stderr) == (0, "")
    assert exported.stdout == f"Exported to {target}: 1 feeds, 0 entries\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert zipfile.ZipFile(target).testzip() is None
    assert (imported.returncode, imported.stderr) == (0, "")
    assert imported.stdout.startswith("Feeds: 1 new, 0 already there\n")


def test_what_cannot_be_exported_or_imported_is_said(tidings: Tidings, services: Services) -> None:
    services.users.create("alice", PASSWORD)
    present = tidings.folder / "precious.zip"
    present.write_text("mine")

    assert "File exists" in error_line(tidings("export", "alice", str(present)), 1)
    assert present.read_text() == "mine"
    assert "no user called 'bob'" in error_line(tidings("export", "bob", str(tidings.folder / "bob.zip")), 1)
    assert "No such file" in error_line(tidings("export", "alice", str(tidings.folder / "missing" / "a.zip")), 1)
    assert "no archive of Tidings" in error_line(tidings("import", "alice", str(present)), 1)
    assert "cannot be read" in error_line(tidings("import", "alice", str(tidings.folder / "missing.zip")), 1)
    assert sorted(path.name for path in tidings.folder.iterdir() if path.suffix == ".part") == []
