"""What a document asks of its readers, kept with the feed: it still holds when the next answers bring no document."""

from __future__ import annotations

import msgspec

from tidings.domain.feeds.feeds import PublisherHints

_NONE = PublisherHints()
_decoder = msgspec.json.Decoder(PublisherHints)


def to_text(hints: PublisherHints) -> str:
    """JSON of what was said; "" when nothing was."""
    return "" if hints == _NONE else msgspec.json.encode(hints, order="deterministic").decode()


def from_text(text: str) -> PublisherHints:
    """What an older or a newer version wrote and we cannot read counts as nothing said."""
    if not text:
        return _NONE
    try:
        return _decoder.decode(text)
    except msgspec.MsgspecError:
        return _NONE
