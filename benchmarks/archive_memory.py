"""Memory and time of `tidings import` and `tidings export` with archives of 100,000 and 1,000,000 entries.

An archive is made, imported into an empty account, exported again, and imported once more, where everything is known.
The memory is the peak of the resident sets (VmHWM) of the command and its child process; the server of PostgreSQL does
not count. Exits with 1 above the limit. Only Linux has this figure.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from support.people import PASSWORD
from support.postgres import create_database, postgres_server
from support.running import environment_for
from tidings.archives import records
from tidings.archives.archive_file import ArchiveWriter
from tidings.archives.records import ArchivedCategory, ArchivedEnclosure, ArchivedEntry, ArchivedFeed, Manifest

SIZES = tuple(int(size) for size in os.environ.get("ARCHIVE_ENTRIES", "100000,1000000").split(","))
FEEDS = 500
LIMIT_MIB = 200
_START = datetime(2020, 1, 1, tzinfo=UTC)
_SENTENCE = "<p>Rain is expected in the north, with some wind from the west, and {}.</p>"
_POLL_S = 0.05


def run() -> int:
    sys.stdout.write("archive-memory: seconds, and MiB (VmHWM) of the command\n")
    peaks: list[float] = []
    with tempfile.TemporaryDirectory() as name, postgres_server(is_durable=True) as server:
        folder = Path(name)
        for size in SIZES:
            archive = folder / f"{size}.zip"
            _make(archive, size)
            sys.stdout.write(f"  {size:9,} entries, a file of {archive.stat().st_size / 2**20:.0f} MiB\n")
            for engine in os.environ.get("ARCHIVE_ENGINES", "SQLite,PostgreSQL").split(","):
                own = folder / f"{engine}-{size}"
                own.mkdir()
                url = f"sqlite:///{own}/tidings.db" if engine == "SQLite" else create_database(server, f"own{size}")
                peaks += _measure(engine, archive, environment_for(url, own), own)
            archive.unlink()
    return 1 if max(peaks) > LIMIT_MIB else 0


def _measure(engine: str, archive: Path, environment: dict[str, str], folder: Path) -> list[float]:
    run_command(environment, "migrate")
    run_command(environment, "user", "add", "alice", stdin=f"{PASSWORD}\n")
    exported = folder / "exported.zip"
    return [
        _show(engine, "import", *run_command(environment, "import", "alice", str(archive))),
        _show(engine, "export", *run_command(environment, "export", "alice", str(exported))),
        _show(engine, "import again", *run_command(environment, "import", "alice", str(exported))),
    ]


def _show(engine: str, title: str, seconds: float, peak_mib: float) -> float:
    sys.stdout.write(f"  {engine:10} {title:12} {seconds:7.0f} s {peak_mib:6.0f} MiB\n")
    sys.stdout.flush()
    return peak_mib


def run_command(environment: dict[str, str], *arguments: str, stdin: str = "") -> tuple[float, float]:
    """Run a command. Returns the seconds it took and the peak of its memory with its child processes, in MiB."""
    started, peak_kb = time.monotonic(), 0
    command = [sys.executable, "-m", "tidings", *arguments]
    with subprocess.Popen(  # noqa: S603
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        process.stdin.write(stdin.encode())
        process.stdin.close()
        while process.poll() is None:
            peak_kb = max(peak_kb, sum(map(_peak_kb, [process.pid, *_children(process.pid)])))
            time.sleep(_POLL_S)
    assert process.returncode == 0, f"{arguments[0]} failed"
    return time.monotonic() - started, peak_kb / 1024


def _children(pid: int) -> list[int]:
    return [int(child) for thread in Path(f"/proc/{pid}/task").glob("*/children") for child in _text(thread).split()]


def _peak_kb(pid: int) -> int:
    match = re.search(r"^VmHWM:\s+(\d+)", _text(Path(f"/proc/{pid}/status")), re.MULTILINE)
    return int(match[1]) if match else 0


def _text(path: Path) -> str:
    """Returns the text of a file of /proc, "" if the process has ended."""
    try:
        return path.read_text()
    except OSError:
        return ""


def _make(path: Path, size: int) -> None:
    with path.open("wb") as file, closing(ArchiveWriter(file)) as archive:
        archive.write_document(records.SETTINGS, {})
        archive.write_document(records.INTEGRATIONS, {})
        archive.write_lines(records.CATEGORIES, (ArchivedCategory(f"Category {number}") for number in range(20)))
        archive.write_lines(
            records.FEEDS,
            (
                ArchivedFeed(
                    number=number, category=f"Category {number % 20}",
                    feed_url=f"https://example.org/{number}/feed.xml", title=f"Feed {number}",
                )
                for number in range(1, FEEDS + 1)
            ),
        )  # fmt: skip
        archive.write_lines(records.ENTRIES, (_entry(number) for number in range(size)))
        archive.write_lines(records.DELETED_ENTRIES, ())
        manifest = Manifest(
            format=records.FORMAT, version=records.VERSION, application="benchmark", created_at=_START,
            username="alice", has_secrets=False, counts=archive.counts,
        )  # fmt: skip
        archive.write_document(records.MANIFEST, manifest)


def _entry(number: int) -> ArchivedEntry:
    """Returns an entry of 2 kB, with an enclosure in every tenth."""
    url = f"https://example.org/{number % FEEDS}/{number}"
    moment = _START + timedelta(minutes=number)
    return ArchivedEntry(
        feed=number % FEEDS + 1,
        hash=sha256(url.encode()).hexdigest(),
        status="unread" if number % 3 == 0 else "read",
        starred=number % 50 == 0,
        published_at=moment,
        created_at=moment,
        changed_at=moment,
        title=f"Weather report {number}",
        url=url,
        author="Alice Example",
        tags=["weather", f"tag {number % 97}"],
        enclosures=[ArchivedEnclosure(f"{url}.mp3", "audio/mpeg", 1_000)] if number % 10 == 0 else [],
        content="".join(_SENTENCE.format(number * line) for line in range(24)),
    )


if __name__ == "__main__":
    sys.exit(run())
