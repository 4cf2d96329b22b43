"""Stores the hints of a document with its feed: they still apply when later checks return "not modified"."""

from __future__ import annotations

import msgspec

from tidings.content.model import PublisherHints

_NONE = PublisherHints()
_decoder = msgspec.json.Decoder(PublisherHints)


def to_text(hints: PublisherHints) -> str:
    """Returns the hints as JSON; "" if there are none."""
    return "" if hints == _NONE else msgspec.json.encode(hints, order="deterministic").decode()


def from_text(text: str) -> PublisherHints:
    """Returns the stored hints; none if another version of Tidings wrote them in a form that cannot be read."""
    if not text:
        return _NONE
    try:
        return _decoder.decode(text)
    except msgspec.MsgspecError:
        return _NONE
