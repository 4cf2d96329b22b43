"""The library `reader` for benchmarks: a process of an interpreter that has it (`reader_commands.py`).

It has no HTTP: what is measured are calls in one thread of one process, and checks of feeds in several threads.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from tidings.base.times import to_datetime
from tidings.domain.entries.entries import EntryStatus, ReadyEntry

READER: Final = "reader"
THREADS: Final = 8
RAN_AS: Final = "in process: a library without HTTP, in one thread"
_COMMANDS: Final = Path(__file__).with_name("reader_commands.py")


def why_missing(python: str) -> str:
    """Return why it cannot be measured; empty if it can."""
    try:
        done = subprocess.run([python, "-c", "import reader"], stderr=subprocess.DEVNULL, check=False)  # noqa: S603
    except OSError as error:
        return f"{python} cannot be started: {error.strerror}"
    return f"{python} does not have it: --reader PYTHON" if done.returncode else ""


class Library:
    """The process, with a database and feeds of its own in `folder`."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._commands: IO[str] = process.stdin
        self._results: IO[str] = process.stdout
        self.folder = folder

    def do(self, command: str, **arguments: object) -> Any:
        """Carry out one of the methods of `Commands`. Raises EOFError if the process ended."""
        self._commands.write(json.dumps({"do": command, **arguments}) + "\n")
        self._commands.flush()
        if not (result := self._results.readline()):
            raise EOFError(f"{READER} ended at {command}")
        return json.loads(result)

    def close(self) -> None:
        self._commands.close()

    def fill(self, categories: int, feeds: int, entries: Iterable[ReadyEntry]) -> None:
        """Store feeds with entries: entry N is in feed N modulo `feeds`. Their documents are files on disk."""
        documents = self._write(feeds, entries)
        self.do("subscribe", urls=list(documents), categories=[f"Category {n % categories}" for n in range(feeds)])
        self.do("update", workers=1)
        every = [one for items in documents.values() for one in items]
        read = [entry.url for entry in every if entry.status is EntryStatus.READ]
        self.do("set_states", read=read, important=[entry.url for entry in every if entry.starred])
        counts = self.do("counts")
        assert counts["total"] == len(every), counts

    def _write(self, feeds: int, entries: Iterable[ReadyEntry]) -> dict[str, list[ReadyEntry]]:
        found: list[list[ReadyEntry]] = [[] for _ in range(feeds)]
        for number, entry in enumerate(entries):
            found[number % feeds].append(entry)
        for number, items in enumerate(found):
            document = {"version": "https://jsonfeed.org/version/1.1", "title": f"Feed {number}"}
            text = json.dumps(document | {"items": [_item(one) for one in items]})
            (self.folder / f"{number}.json").write_text(text, encoding="utf-8")
        return {f"{number}.json": items for number, items in enumerate(found)}


def _item(entry: ReadyEntry) -> dict[str, object]:
    files = [{"url": one.url, "mime_type": one.mime_type, "size_in_bytes": one.size} for one in entry.enclosures]
    return {
        "id": entry.url,
        "url": entry.url,
        "title": entry.title,
        "content_html": entry.content,
        "date_published": to_datetime(entry.published_at).isoformat(),
        "authors": [{"name": entry.author}],
        "tags": list(entry.tags),
        "attachments": files,
    }


@contextmanager
def running(python: str) -> Iterator[Library]:
    with tempfile.TemporaryDirectory() as folder:
        feeds = Path(folder, "feeds")
        feeds.mkdir()
        command = [python, str(_COMMANDS), str(Path(folder, "reader.db")), str(feeds)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
            library = Library(process, feeds)
            try:
                yield library
            finally:
                library.close()
