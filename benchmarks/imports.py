"""Time and memory of `tidings import` from the reference, with 100,000 entries in 500 feeds, by API and by database.

Each import goes into an empty account, on each engine, and is then compared with the reference, entry by entry, over
both APIs. The memory is the peak of the resident set of the command and its child process. Exits with 1 above a limit,
or if an entry is not equal. IMPORT_ENTRIES=10000 imports fewer.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks import reference
from support.people import PASSWORD
from support.postgres import create_database, postgres_server
from support.running import environment_for, running

FEEDS = 500
ENTRIES = int(os.environ.get("IMPORT_ENTRIES", "100000"))
LIMIT_S = 60
LIMIT_MIB = 200
_PAGE = 1_000
_POLL_S = 0.05
_COMPARED = ("hash", "status", "starred", "title", "url", "author", "comments_url", "reading_time", "tags")


def run() -> int:
    if not reference.is_installed():
        sys.stdout.write("imports: left out, since the reference server is not installed\n")
        return 0
    sys.stdout.write(
        f"imports: {ENTRIES:,} entries in {FEEDS} feeds from the reference; seconds, processor seconds, MiB\n"
    )
    with tempfile.TemporaryDirectory() as name, postgres_server(is_durable=True) as server, reference.started() as said:
        reference.sql("truncate feeds cascade")
        reference.run("seed", str(FEEDS), str(ENTRIES))
        key = Path(name, "key")
        key.write_text(said["TOKEN"])
        sources = {
            "API": ["--from", "miniflux", "--url", said["URL"], "--api-key-file", str(key)],
            "database": [_database_url(), "--from-user", said["USER"]],
        }
        expected = _digest(said["URL"], {"X-Auth-Token": said["TOKEN"]})
        results = []
        for number, (source, arguments) in enumerate(sources.items()):
            for engine in ("SQLite", "PostgreSQL"):
                own = Path(name, f"{engine}-{number}")
                own.mkdir()
                url = f"sqlite:///{own}/tidings.db" if engine == "SQLite" else create_database(server, f"own{number}")
                environment = environment_for(url, own)
                results.append(
                    _measure(f"{source}, {engine}", environment, arguments) and _is_equal(environment, expected)
                )
    return int(not all(results))


def _measure(title: str, environment: dict[str, str], arguments: list[str]) -> bool:
    """Return whether the import was within the limits."""
    _run_command(environment, "migrate")
    _run_command(environment, "user", "add", "alice", stdin=f"{PASSWORD}\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds, mib = _run_command(environment, "import", "alice", *arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    sys.stdout.write(f"  {title:22} {seconds:6.0f} s {processor:6.0f} s {mib:6.0f} MiB\n")
    sys.stdout.flush()
    return seconds <= LIMIT_S and mib <= LIMIT_MIB


def _is_equal(environment: dict[str, str], expected: str) -> bool:
    login = base64.b64encode(f"alice:{PASSWORD}".encode()).decode()
    with running("web", environment, Path(environment["TIDINGS_DATA_DIR"])) as service:
        service.wait_until_ready()
        is_equal = _digest(service.url, {"Authorization": f"Basic {login}"}) == expected
    if not is_equal:
        sys.stdout.write("    differs from the reference\n")
    return is_equal


def _digest(url: str, headers: dict[str, str]) -> str:
    """Return a digest of all entries with their states, as the API of a server shows them."""
    lines: list[str] = []
    after = 0
    while page := _page(url, headers, after):
        lines += (json.dumps(_compared(entry)) for entry in page)
        after = page[-1]["id"]
    assert len(lines) == ENTRIES, f"{url} has {len(lines)} entries"
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def _page(url: str, headers: dict[str, str], after: int) -> list[dict[str, Any]]:
    path = f"/v1/entries?order=id&direction=asc&limit={_PAGE}&after_entry_id={after}"
    with urllib.request.urlopen(urllib.request.Request(url + path, headers=headers), timeout=120) as answer:  # noqa: S310
        entries: list[dict[str, Any]] = json.load(answer)["entries"]
        return entries


def _compared(entry: dict[str, Any]) -> list[Any]:
    attached = [[one["url"], one["mime_type"], one["size"]] for one in entry.get("enclosures") or []]
    times = [datetime.fromisoformat(entry[name]).timestamp() for name in ("published_at", "created_at", "changed_at")]
    return [entry["feed"]["feed_url"], *(entry[name] for name in _COMPARED), times, attached]


def _run_command(environment: dict[str, str], *arguments: str, stdin: str = "") -> tuple[float, float]:
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
    """Return the text of a file of /proc, "" if the process has ended."""
    try:
        return path.read_text()
    except OSError:
        return ""


def _database_url() -> str:
    """Return the URL of the database of the reference, which listens on a Unix socket."""
    said = reference.sql(
        "select current_user, current_database(), current_setting('unix_socket_directories'), current_setting('port')"
    )
    user, database, folder, port = said.strip().split("|")
    return f"postgresql://{user}@/{database}?host={folder}&port={port}"
