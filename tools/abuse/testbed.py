"""Services and publishers for the attempts, started on demand and stopped at the end."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from abuse.attempts import Result
from abuse.publisher import Publisher
from abuse.service import Service


@dataclass
class Testbed:
    """The services and the publisher for the attempts of a theme, started on demand and stopped at the end.

    short: make a few attempts of each theme only. settings: settings of every service, which override those of themes.
    """

    short: bool
    settings: dict[str, str] = field(default_factory=dict)
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="tidings-abuse-")))
    _stack: ExitStack = field(default_factory=ExitStack)
    _open: Service | None = None
    _publisher: Publisher | None = None

    def service(self, **settings: str) -> Service:
        """Start another service and wait until it is ready. settings: in lower case, without the prefix TIDINGS_."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        return self._stack.enter_context(Service(folder, {**settings, **self.settings}))

    @property
    def shared(self) -> Service:
        """The service that most themes share. It may fetch from loopback, where the publisher is."""
        if self._open is None or not self._open.is_running:
            self._open = self.service(fetcher_allow_private_networks="1", integration_allow_private_networks="1")
        return self._open

    @property
    def publisher(self) -> Publisher:
        if self._publisher is None:
            self._publisher = self._stack.enter_context(Publisher())
        return self._publisher

    def close(self) -> None:
        self._stack.close()

    def choose(self, attempts: Iterable[Any], few: int) -> list[Any]:
        """Return all attempts, or in the short form `few` of them, evenly spread."""
        every = list(attempts)
        if not self.short or len(every) <= few:
            return every
        step = len(every) / few
        return [every[int(number * step)] for number in range(few)]


Theme = Callable[[Testbed], Iterator[Result]]

# The folder of published hostile HTML, which may be missing.
CORPORA = Path(os.environ.get("TIDINGS_CORPORA", Path(__file__).parents[3] / "shared" / "corpora"))
