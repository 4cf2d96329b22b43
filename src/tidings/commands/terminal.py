"""Input and output of commands, at a terminal or in a script."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.settings import LogFormat

# Called with the number of finished items and the total.
Progress = Callable[[int, int], None]


def say(line: str) -> None:
    """Write a line to stdout and flush it, so that a pipe gets it immediately."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def print_error(line: str, log_format: LogFormat = LogFormat.TEXT) -> None:
    """Write one line to stderr that says why a command ended; with JSON logs, in the form of a log line."""
    line = " ".join(line.split())
    if log_format is LogFormat.JSON:
        now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        line = msgspec.json.encode({"time": now, "level": "error", "event": line}).decode()
    else:
        line = f"tidings: {line}"
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def read_password(username: str, source: Path | None) -> str:
    """Return a password: the first line of the file `source`, else typed twice at a terminal, else a line of stdin.

    Raises InvalidInput if there is none, if the two differ, or if the file cannot be read.
    """
    if source is not None:
        password = _first_line_of(source, "password")
    elif sys.stdin.isatty():
        password = _hidden(f"Password for {username}: ")
        if password and _hidden("Repeat the password: ") != password:
            raise InvalidInput(verbatim("the two passwords differ; nothing was changed"))
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise InvalidInput(verbatim("no password was given; use a terminal, a pipe or --password-file"))
    return password


def read_secret(what: str, source: Path | None) -> str:
    """Return a secret: the first line of the file `source`, else typed at a terminal, else a line of stdin.

    what: its name in messages. Raises InvalidInput if there is none, or if the file cannot be read.
    """
    if source is not None:
        secret = _first_line_of(source, what)
    elif sys.stdin.isatty():
        secret = _hidden(f"The {what}: ")
    else:
        secret = sys.stdin.readline()
    if not secret.strip():
        raise InvalidInput(verbatim(f"no {what} was given; use a terminal, a pipe or a file"))
    return secret.strip()


def _hidden(prompt: str) -> str:
    """Return what is typed at the terminal, which does not show it; "" at the end of the input (Ctrl-D)."""
    try:
        return getpass.getpass(prompt)
    except EOFError:
        sys.stderr.write("\n")
        return ""


def _first_line_of(path: Path, what: str) -> str:
    try:
        with path.open(encoding="utf-8") as lines:
            return lines.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInput(verbatim(f"the {what} file {path} cannot be read: {reason}")) from error


def confirm(question: str) -> bool:
    """Ask a question and return whether the answer is yes. Raises InvalidInput without a terminal."""
    if not sys.stdin.isatty():
        raise InvalidInput(verbatim("this needs a confirmation, but there is no terminal to ask at; add --yes"))
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


@contextmanager
def progress_bar(what: str) -> Iterator[Progress]:
    """Yield a function that updates a progress bar on stderr; without a terminal it does nothing.

    Set up logs inside the context: log lines then appear above the bar instead of in the middle of it.
    """
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
