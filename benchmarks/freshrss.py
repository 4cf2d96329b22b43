"""FreshRSS for benchmarks: a snapshot given by its path, with PHP and nginx of the system, on SQLite.

The snapshot is only read; its data are in a temporary folder. It is installed by its own commands, and served by
php-fpm with as many processes as there are connections, behind nginx. It has a user with an app password, and no feeds.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from benchmarks.load import CONNECTIONS
from support.ports import free_port
from tidings.base.times import DAY, SECOND
from tidings.domain.entries.entries import EntryStatus, ReadyEntry
from tidings.services.clock import system_clock

FRESHRSS: Final = "FreshRSS"
SERVED_BY: Final = f"php-fpm ({CONNECTIONS} processes) and nginx, SQLite"
USERNAME, PASSWORD = "alice", "correct-horse-battery"
READY_LIMIT_S: Final = 60.0
SYSTEM_PATH: Final = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])
# Its ids are microseconds of the time of storing, so that the newest entry has the highest one.
FIRST_ID: Final = 1_700_000_000_000_000

_FPM: Final = """[global]
error_log = {folder}/php-fpm.log
daemonize = no
[www]
{owner}
listen = {folder}/php.sock
pm = static
pm.max_children = {processes}
clear_env = no
"""
_NGINX: Final = """{owner}
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
daemon off;
worker_processes auto;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  fastcgi_temp_path {folder}/fastcgi;
  proxy_temp_path {folder}/proxy;
  scgi_temp_path {folder}/scgi;
  uwsgi_temp_path {folder}/uwsgi;
  server {{
    listen 127.0.0.1:{port};
    location / {{
      fastcgi_pass unix:{folder}/php.sock;
      fastcgi_buffers 64 16k;
      fastcgi_param SCRIPT_FILENAME {snapshot}/p/api/greader.php;
      fastcgi_param SCRIPT_NAME /api/greader.php;
      fastcgi_param PATH_INFO $uri;
      fastcgi_param REQUEST_URI $request_uri;
      fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param QUERY_STRING $query_string;
      fastcgi_param CONTENT_TYPE $content_type;
      fastcgi_param CONTENT_LENGTH $content_length;
      fastcgi_param REMOTE_ADDR $remote_addr;
      fastcgi_param SERVER_PROTOCOL $server_protocol;
      fastcgi_param HTTP_HOST $http_host;
    }}
  }}
}}
"""


def why_missing(snapshot: Path | None, *, is_served: bool = True) -> str:
    """Return why it cannot be measured; empty if it can. is_served: its API is measured, and not polling alone."""
    if snapshot is None:
        return "no snapshot was given: --freshrss PATH"
    if not (snapshot / "app" / "actualize_script.php").is_file():
        return f"{snapshot} is not a snapshot of it"
    if _program("php") is None:
        return "php is not installed"
    if is_served and (_fpm() is None or _program("nginx") is None):
        return "php-fpm or nginx is not installed"
    return ""


def _program(name: str) -> str | None:
    return shutil.which(name, path=SYSTEM_PATH)


def _fpm() -> str | None:
    """Return the path of php-fpm, which has the version of PHP in its name on Debian."""
    folders = [Path(one) for one in SYSTEM_PATH.split(os.pathsep)]
    return next((str(path) for folder in folders for path in sorted(folder.glob("php-fpm*"), reverse=True)), None)


class FreshRss:
    """An installation with its data in `folder`."""

    def __init__(self, snapshot: Path, folder: Path) -> None:
        self.snapshot = snapshot.resolve()
        self.folder = folder
        self.data = folder / "data"
        self.environment = {"PATH": SYSTEM_PATH, "DATA_PATH": str(self.data), "TMPDIR": str(folder)}

    @property
    def version(self) -> str:
        constants = (self.snapshot / "constants.php").read_text(encoding="utf-8")
        return constants.partition("FRESHRSS_VERSION = '")[2].partition("'")[0]

    def install(self) -> None:
        self.run("cli/prepare.php")
        base_url = f"http://127.0.0.1:{free_port()}/"
        self.run(
            "cli/do-install.php", "--default-user", USERNAME, "--auth-type", "form", "--api-enabled",
            "--db-type", "sqlite", "--disable-update", "--base-url", base_url,
        )  # fmt: skip
        self.run("cli/create-user.php", "--user", USERNAME, "--password", PASSWORD, "--api-password", PASSWORD)
        self._change("DELETE FROM feed")
        self._end_caching()

    def _end_caching(self) -> None:
        """Let it ask publishers again, with their validators, where it would use its copy for 13 minutes."""
        config = self.data / "config.php"
        settings = config.read_text(encoding="utf-8").rstrip().removesuffix(");")
        limits = ", ".join(f"'cache_duration{part}' => 0" for part in ("", "_min", "_max"))
        config.write_text(f"{settings}  'limits' => array({limits}),\n);\n", encoding="utf-8")

    def run(self, script: str, *arguments: str) -> None:
        """Run one of its commands. Raises RuntimeError with the end of its output if it fails."""
        command = [_program("php") or "php", str(self.snapshot / script), *arguments]
        done = subprocess.run(  # noqa: S603
            command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{FRESHRSS}: {script} failed: {done.stdout.decode(errors='replace')[-2_000:]}")

    def subscribe(self, base_url: str, count: int) -> None:
        """Replace all feeds with `base_url`/1 and so on."""
        rows = [(number, f"{base_url}/{number}", f"Feed {number}") for number in range(1, count + 1)]
        self._change("DELETE FROM entry")
        self._change("DELETE FROM feed")
        self._change("INSERT INTO feed (id, url, category, name) VALUES (?, ?, 1, ?)", rows)

    def refresh(self) -> float:
        """Poll all feeds by its script. Returns the seconds."""
        self._make_due()
        started = time.monotonic()
        self.run("app/actualize_script.php")
        return time.monotonic() - started

    def _make_due(self) -> None:
        """All feeds were checked two days ago. A copy that is not used is older than this second."""
        then = (system_clock() - 2 * DAY) // SECOND
        self._change("UPDATE feed SET lastUpdate = ? WHERE lastUpdate > 0", [(then,)])
        time.sleep(1.1)

    def stored(self) -> int:
        with closing(sqlite3.connect(self._database)) as db:
            (count,) = db.execute("SELECT count(*) FROM entry").fetchone()
        return int(count)

    def fill(self, categories: int, feeds: int, entries: Iterable[ReadyEntry]) -> None:
        """Write feeds with entries, of which the first is the newest: entry N is in feed N modulo `feeds`."""
        self._change(
            "INSERT INTO category (id, name) VALUES (?, ?)", [(n + 2, f"Category {n}") for n in range(categories)]
        )
        self._change(
            "INSERT INTO feed (id, url, category, name, website, lastUpdate) VALUES (?, ?, ?, ?, ?, ?)",
            [
                (
                    n + 1,
                    f"http://127.0.0.1:1/feed/{n}",
                    n % categories + 2,
                    f"Feed {n}",
                    f"http://127.0.0.1:1/site/{n}",
                    1,
                )
                for n in range(feeds)
            ],
        )
        self._change(
            "INSERT INTO entry (id, guid, title, author, content, link, date, lastSeen, hash, is_read, is_favorite,"
            " id_feed, tags, attributes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (_row(number, feeds, entry) for number, entry in enumerate(entries)),
        )
        self._change(
            "UPDATE feed SET cache_nbEntries = (SELECT count(*) FROM entry WHERE id_feed = feed.id),"
            " cache_nbUnreads = (SELECT count(*) FROM entry WHERE id_feed = feed.id AND is_read = 0)"
        )

    @property
    def _database(self) -> Path:
        return self.data / "users" / USERNAME / "db.sqlite"

    def _change(self, statement: str, rows: Iterable[tuple[object, ...]] = ((),)) -> None:
        with closing(sqlite3.connect(self._database)) as db, db:
            db.executemany(statement, rows)


def _row(number: int, feeds: int, entry: ReadyEntry) -> tuple[object, ...]:
    published = entry.published_at // SECOND
    files = [{"url": one.url, "type": one.mime_type, "length": one.size} for one in entry.enclosures]
    return (
        FIRST_ID - number, entry.url, entry.title, entry.author, entry.content, entry.url, published, published,
        hashlib.md5(entry.hash, usedforsecurity=False).digest(), entry.status is EntryStatus.READ, entry.starred,
        number % feeds + 1, "".join(f" #{tag}" for tag in entry.tags),
        json.dumps({"enclosures": files} if files else {}),
    )  # fmt: skip


@contextmanager
def installed(snapshot: Path) -> Iterator[FreshRss]:
    """Yield a new installation, which is deleted at the end."""
    with tempfile.TemporaryDirectory() as folder:
        installation = FreshRss(snapshot, Path(folder))
        installation.install()
        yield installation


@contextmanager
def serving(installation: FreshRss) -> Iterator[str]:
    """Serve its API for apps. Yields the URL below which the paths of the Google Reader API are."""
    port, folder = free_port(), installation.folder
    is_root = os.geteuid() == 0
    values = {"folder": folder, "snapshot": installation.snapshot, "port": port, "processes": CONNECTIONS}
    fpm, nginx = folder / "php-fpm.conf", folder / "nginx.conf"
    fpm.write_text(_FPM.format(owner="user = root\ngroup = root" if is_root else "", **values))
    nginx.write_text(_NGINX.format(owner="user root;" if is_root else "", **values))
    as_root = ["--allow-to-run-as-root"] if is_root else []
    with (
        _running([_fpm() or "php-fpm", "--nodaemonize", "--fpm-config", str(fpm), *as_root], installation),
        _running([_program("nginx") or "nginx", "-c", str(nginx), "-e", str(folder / "nginx.log")], installation),
    ):
        url = f"http://127.0.0.1:{port}"
        _wait_until(lambda: _answers(url))
        yield url


@contextmanager
def _running(command: list[str], installation: FreshRss) -> Iterator[None]:
    with (installation.folder / "servers.log").open("ab") as log:
        process = subprocess.Popen(  # noqa: S603
            command, env=installation.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/check/compatibility", timeout=10) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except OSError:
        return False


def _wait_until(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + READY_LIMIT_S
    while not is_true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{FRESHRSS} does not answer")
        time.sleep(0.1)
