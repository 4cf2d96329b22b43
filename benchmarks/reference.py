"""The reference server, for benchmarks that compare with it: a command that installs, starts and fills it.

It runs on a PostgreSQL of its own. Benchmarks leave it out where the command is missing.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REFERENCE = "the reference"
# Characters of its log that are shown when a command fails.
LOG_SIZE = 2_000
_COMMAND = Path(os.environ.get("TIDINGS_PEER", Path(__file__).parents[2] / "shared" / "tools" / "peer"))


def is_installed() -> bool:
    """Return whether the command is there."""
    return _COMMAND.exists()


@contextmanager
def started() -> Iterator[dict[str, str]]:
    """Starts the server, and stops it at the end. Yields what it says of itself: URL, USER, PASSWORD."""
    said = run("start").split()
    try:
        yield dict(word.split("=", 1) for word in said if "=" in word)
    finally:
        run("stop")


def run(*arguments: str) -> str:
    """Return what the command prints. Raises RuntimeError with the end of its log, which is not shown otherwise."""
    # A file, since programs that it starts keep a pipe open.
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        done = subprocess.run([_COMMAND, *arguments], stdout=subprocess.PIPE, stderr=log, text=True, check=False)  # noqa: S603
        if done.returncode:
            log.seek(0)
            raise RuntimeError(f"{_COMMAND.name} {arguments[0]} failed: {log.read()[-LOG_SIZE:]}")
    return done.stdout


def sql(*statements: str) -> str:
    """Run statements in its database. Returns the rows, one per line."""
    return run("psql", "-qAt", "-v", "ON_ERROR_STOP=1", *(part for one in statements for part in ("-c", one)))


def enable_app_apis(username: str, password: str) -> None:
    """Enables the Google Reader API and the Fever API of its first user. Both values: as `started` yields them."""
    fever = f"fever_enabled = true, fever_username = '{username}', fever_token = md5('{username}:{password}')"
    hashed = f"crypt('{password}', gen_salt('bf', 10))"
    reader = f"googlereader_enabled = true, googlereader_username = '{username}', googlereader_password = {hashed}"
    sql(
        "create extension if not exists pgcrypto",
        "insert into integrations (user_id) select 1 where not exists (select from integrations where user_id = 1)",
        f"update integrations set {fever}, {reader} where user_id = 1",  # noqa: S608 - values of our own command
    )
