"""Reads lists of feeds to subscribe to: an OPML document, or plain text with one address on each line.

# News
https://example.org/feed.xml
https://example.net/atom    # a comment after a blank
"""

from __future__ import annotations

import re
from typing import Final

from tidings.base.errors import InvalidField, InvalidInput
from tidings.base.messages import msg
from tidings.content.formats.charset import decode
from tidings.domain.feeds import feed_changes, opml
from tidings.domain.feeds.opml import MAX_FEEDS, OpmlDocument, OpmlProblem, OpmlSubscription

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
# A fragment of an address has no blank before it.
_COMMENT: Final = re.compile(r"(?:^|\s)#.*")


def read(body: bytes) -> OpmlDocument:
    """Return the subscriptions of an OPML document or of a plain list of addresses.

    Text without markup is a list if one of its lines is an address. Lines that are not are reported as problems.
    Raises InvalidInput if it is neither, or holds more than `MAX_FEEDS` feeds.
    """
    text = decode(body)
    lines = [_COMMENT.sub("", line).strip() for line in _LINE_END.split(text)]
    if any("<" in line for line in lines) or not any(lines):
        return opml.read(body)
    if not any(feed_changes.names_scheme(line) for line in lines):
        first = next(number for number, line in enumerate(lines, 1) if line)
        raise InvalidInput(
            msg("Line {line}: this is neither an OPML document nor a list of addresses, one on each line.", line=first)
        )
    if sum(map(bool, lines)) > MAX_FEEDS:
        raise InvalidInput(msg("This list holds more than {max} lines: import it in several parts.", max=MAX_FEEDS))
    document = OpmlDocument([], [], [])
    for number, line in enumerate(lines, 1):
        if line:
            _add(document, number, line)
    return document


def _add(document: OpmlDocument, number: int, line: str) -> None:
    try:
        values = feed_changes.validate({"feed_url": feed_changes.normalize_scheme(line)})
    except InvalidInput as error:
        reason = error.problem if isinstance(error, InvalidField) else error.text
        document.unusable.append(OpmlProblem(number, line, reason))
        return
    # The feed gets the publisher's title with its first check.
    url = values["feed_url"]
    values |= {"site_url": url, "title": url, "description": "", "edited": 0}
    document.subscriptions.append(OpmlSubscription(number, (), values))
