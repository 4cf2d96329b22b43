"""The errors of reading content: documents that are not usable feeds, and rules that cannot be applied.

InvalidInput
└── InvalidRule             a filter, rewrite or scraper rule; names the rule's number
    └── UnmatchableRule     a rule that matches nothing
FeedError                   the body holds no usable feed
├── NotAFeed
├── FeedUnreadable
├── NoItems                 the selectors of a feed made from a page find nothing
└── PageUnreadable          the page is not of the feed's kind, or needs more than the limits to read
"""

from __future__ import annotations

from tidings.base.errors import InvalidInput, TidingsError
from tidings.base.messages import Message


class InvalidRule(InvalidInput):
    """A rule that cannot be compiled.

    number: the position of the wrong rule in its text, counted from 1.
    """

    code = "invalid-rule"

    def __init__(self, message: Message, *, field: str = "", number: int = 1) -> None:
        super().__init__(message, field=field)
        self.number = number


class UnmatchableRule(InvalidRule):
    """A rule that matches nothing. It may be stored: clients send all settings of a feed when they change one."""


class FeedError(TidingsError):
    code = "feed-error"
    is_retryable = True


class NotAFeed(FeedError):
    code = "not-a-feed"


class FeedUnreadable(FeedError):
    code = "feed-unreadable"


class NoItems(FeedError):
    code = "no-items"


class PageUnreadable(FeedError):
    code = "page-unreadable"
