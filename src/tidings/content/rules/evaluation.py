"""What all rules share: the time they may take, the errors they report, and the entry they work on.

Each rule has limits of its own, but a text of rules may have thousands of rules, and a document thousands of entries:
so one budget holds for an entry, a check or a try. Errors are collected, so that one wrong rule does not hide the
others.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self, TypeVar
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct, field

from tidings.base.messages import Message, msg
from tidings.content.errors import InvalidRule, UnmatchableRule
from tidings.content.model import ParsedEnclosure

# Budget

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


# Errors

# Characters: far above real lists; limits memory and time of a poll.
MAX_TEXT_CHARS: Final = 200_000

T = TypeVar("T")


class RuleErrors(list[InvalidRule]):
    """The errors of the rules that are read together, and the processor time that reading them may still take.

    A text of 200,000 characters can have thousands of expressions that take milliseconds each to compile.
    """

    def __init__(self) -> None:
        super().__init__()
        self.budget = RuleBudget(MAX_READING_S)
        self.is_cut = False


def collect_error(read: Callable[[], T], *, errors: RuleErrors, field: str, number: int = 0) -> T | None:
    """Return the result of `read`; None if it raises InvalidRule, or if the rules before it took too long to read.

    The error is added to `errors` with its location. number: 0 if the whole text is one rule.
    """
    if errors.budget.is_used_up:
        if not errors.is_cut:
            problem = msg("this rule and those after it were left out: the rules take too long to read, use fewer.")
            errors.append(with_location(InvalidRule(problem), field=field, number=number))
            errors.is_cut = True
        return None
    try:
        with errors.budget:
            return read()
    except InvalidRule as error:
        errors.append(with_location(error, field=field, number=number))
        return None


def with_location(error: InvalidRule, *, field: str, number: int) -> InvalidRule:
    """Return the error with the field and number of its rule. Its cause is kept."""
    message = msg("Rule {number}: {problem}", number=number, problem=error.text) if number else error.text
    located = type(error)(message, field=field, number=number or 1)
    located.__cause__ = error
    return located


def raise_first(errors: RuleErrors) -> None:
    """Raise the first error, if any. Rules that merely match nothing are accepted."""
    for error in errors:
        if not isinstance(error, UnmatchableRule):
            raise error


def is_too_long(text: str, *, field: str, errors: RuleErrors) -> bool:
    """Return whether the text is too long; if it is, adds an error to `errors`."""
    if len(text) <= MAX_TEXT_CHARS:
        return False
    errors.append(InvalidRule(msg("The rules are longer than {max} characters.", max=MAX_TEXT_CHARS), field=field))
    return True


# Entry

# A public instance, used unless the operator configures another.
DEFAULT_INVIDIOUS_HOST = "yewtu.be"

# Nearly all URLs match, which saves splitting them.
_PLAIN_WEB = re.compile(r"https?://(?:www\.)?+([a-z0-9-][a-z0-9.-]*+)(?::[0-9]++)?+(?=[/?#]|\Z)")


class RuleEntry(Struct, frozen=True, kw_only=True):
    """The parts of an entry that rewrite rules read and change, and what the rules may still use."""

    url: str = ""
    """The URL that the URL rule returned."""
    title: str = ""
    content: str = ""
    """HTML, not cleaned."""
    enclosures: tuple[ParsedEnclosure, ...] = ()
    invidious_host: str = DEFAULT_INVIDIOUS_HOST
    """Host of the Invidious player."""
    budget: RuleBudget = field(default_factory=RuleBudget)
    """What all rules of the entry may use together."""


# May raise RuleBudgetExceeded; the rule is then skipped.
RewriteAction = Callable[[RuleEntry], RuleEntry]


def split_url(url: str) -> SplitResult:
    """Return the same as urlsplit, but empty parts for an invalid URL."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")


def host_without_www(url: str) -> str:
    """Return the host in lower case, without `www.`; "" if there is none."""
    if plain := _PLAIN_WEB.match(url):
        return plain[1]
    return (split_url(url).hostname or "").removeprefix("www.")
