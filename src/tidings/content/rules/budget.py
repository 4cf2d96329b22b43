"""The processor time and the characters that rules may use together: in one entry, one check or one try.

Each rule has limits of its own, but a text of rules may have thousands of rules, and a document thousands of entries.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from tidings.base.messages import Message, msg

# Seconds of processor time. A hundred ordinary rules take a few milliseconds for an entry.
MAX_ENTRY_S: Final = 2.0
# Limits for all new and changed entries of a feed in one check, and for all entries of a try.
MAX_CHECK_S: Final = 8.0
MAX_TRY_S: Final = 5.0
# The limit for the scraper rule of a page, which has a process of its own.
MAX_PAGE_S: Final = 3.0
# The limit for reading all rules of a feed or a user, most of which is compiling expressions.
MAX_READING_S: Final = 1.5
# Characters that all rewrite rules of an entry may write together: ten times the longest text.
MAX_ENTRY_CHARS: Final = 40_000_000


class RuleBudgetExceeded(Exception):
    """A rule needs too much time or memory. The rule is skipped, with a warning that holds the reason."""

    def __init__(self, reason: Message) -> None:
        super().__init__(reason.english())
        self.reason = reason


class RuleBudget:
    """The time and size that rules may still use; it counts the time of its thread within `with`.

    max_s: seconds of processor time. max_chars: characters that rewrite rules may write. whole: the budget of the check
    or try of which this is a part. is_stopped: whether the result is not needed any more.
    """

    __slots__ = ("_chars", "_deadline", "_depth", "_is_stopped", "_left_s", "_whole")

    def __init__(
        self,
        max_s: float = MAX_ENTRY_S,
        max_chars: int = MAX_ENTRY_CHARS,
        *,
        whole: RuleBudget | None = None,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._left_s = max_s
        self._chars = max_chars
        self._whole = whole
        self._is_stopped = is_stopped
        self._depth = 0
        self._deadline = 0.0

    def for_entry(self) -> RuleBudget:
        """Return the budget of one entry, whose use counts here, too."""
        return RuleBudget(whole=self)

    def __enter__(self) -> Self:
        if self._whole is not None:
            self._whole.__enter__()
        if not self._depth:
            self._deadline = time.thread_time() + self._left_s
        self._depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if not self._depth:
            self._left_s = self._deadline - time.thread_time()
        if self._whole is not None:
            self._whole.__exit__(kind, error, trace)

    @property
    def deadline(self) -> float:
        """The processor time of this thread (`time.thread_time`) at which the budget is used up."""
        own = self._deadline if self._depth else time.thread_time() + self._left_s
        return own if self._whole is None else min(own, self._whole.deadline)

    @property
    def is_used_up(self) -> bool:
        """Whether no further rule may begin."""
        if self._chars < 0 or self._is_stopped():
            return True
        if (self._deadline - time.thread_time() if self._depth else self._left_s) <= 0:
            return True
        return self._whole is not None and self._whole.is_used_up

    def check(self) -> None:
        """Raise RuleBudgetExceeded if no further rule may begin."""
        if self._whole is not None and self._whole.is_used_up:
            raise RuleBudgetExceeded(msg("all rules of the feed together take too long"))
        if self.is_used_up:
            raise RuleBudgetExceeded(msg("all rules together take too long for this entry"))

    def spend(self, chars: int) -> None:
        """Count characters that a rule has written; `check` refuses what follows if they were too many."""
        self._chars -= chars
