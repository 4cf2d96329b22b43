"""newsboat, the reader for terminals: found on this machine or installed from Debian's packages, and set up."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clients.terminal import Terminal, terminal
from support import debian
from support.debian import ProgramMissing
from support.people import Person

# Keys of ours for moving about: those it has by default are not on every keyboard.
HOME, DOWN = "g", "j"


NewsboatMissing = ProgramMissing


def program() -> Path:
    """Where newsboat is; installed first where that can be done without asking. NewsboatMissing says why it is not."""
    return debian.program("newsboat")


def supports_setting(setting: str) -> bool:
    """Whether this newsboat has heard of a setting. It refuses to start with one that it has not."""
    return setting.encode() in program().read_bytes()


@contextmanager
def newsboat(person: Person, folder: Path, *settings: str) -> Iterator[Terminal]:
    """Newsboat, just started, with an empty cache."""
    home = Path(tempfile.mkdtemp(prefix="newsboat-", dir=folder))
    config = home / "config"
    config.write_text(
        "\n".join(
            [
                'urls-source "miniflux"',
                f'miniflux-url "{person.service.url}"',
                f'miniflux-login "{person.user.username}"',
                f'miniflux-password "{person.password}"',
                f"bind-key {HOME} home",
                f"bind-key {DOWN} down",
                "confirm-exit no",
                "show-read-feeds yes",
                "show-read-articles yes",
                *(["confirm-mark-feed-read no"] if supports_setting("confirm-mark-feed-read") else []),
                *settings,
                "",
            ]
        )
    )
    command: list[str | Path] = [
        program(),
        "-C",
        config,
        "-u",
        home / "urls",
        "-c",
        home / "cache.db",
        "-d",
        home / "log",
        "-l",
        "6",
    ]
    with terminal(command, {"HOME": str(home)}, home) as screen:
        yield screen
