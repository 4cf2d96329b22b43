"""The link to the next page of a list of entries (RFC 8288), and the cursor in it.

In an order by time, the next page begins after the last entry of this one (`cursor`), in the order of ids it has ids
beyond the last one, and in other orders it has an offset.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode

from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.base.times import Instant
from tidings.domain.entries.entries import Direction, Entry, EntryCursor, Order, PageRequest
from tidings.http.requests import Request

# The first letter of a cursor says of which order it is.
_LETTERS: Final = {Order.PUBLISHED_AT: "p", Order.CHANGED_AT: "m", Order.CREATED_AT: "c"}
_CURSOR: Final = re.compile(r"([pmc])(-?[0-9]{1,18})\.([0-9]{1,18})", re.ASCII)
_MAX_LENGTH: Final = 80


def read_cursor(text: str, order: Order) -> EntryCursor:
    """Return the cursor that `next_link` wrote for this order. Raises InvalidInput for any other text."""
    found = None
    if len(text) <= _MAX_LENGTH and text.isascii():
        try:
            padded = text + "=" * (-len(text) % 4)
            found = _CURSOR.fullmatch(base64.b64decode(padded, b"-_", validate=True).decode("ascii"))
        except (binascii.Error, UnicodeDecodeError):
            found = None
    if found is None:
        raise InvalidInput(verbatim("cursor: send the one of the `next` link of another page."), field="cursor")
    if found[1] != _LETTERS.get(order):
        raise InvalidInput(verbatim("cursor: it is of a list in another order; begin without it."), field="cursor")
    return EntryCursor(Instant(int(found[2])), int(found[3]))


def next_link(request: Request, page: PageRequest, last: Entry) -> dict[str, str]:
    """Return the header with the link to the page that follows. last: the last entry of this page."""
    return link_to(request, _position_after(page, last))


def link_to(request: Request, changed: Mapping[str, str]) -> dict[str, str]:
    """Return the header with the link to the page that has these parameters, which say where it begins."""
    kept = [(name, value) for name, value in request.query if name not in ("cursor", "offset", *changed)]
    # Relative to the host: a proxy may have another name for it.
    address = f"{quote(request.scope['path'])}?{urlencode([*kept, *changed.items()])}"
    return {"Link": f'<{address}>; rel="next"'}


def _position_after(page: PageRequest, last: Entry) -> dict[str, str]:
    if page.order is Order.ID:
        name = "after_entry_id" if page.direction is Direction.ASC else "before_entry_id"
        return {name: str(last.id)}
    if (letter := _LETTERS.get(page.order)) is None:
        return {"offset": str(page.offset + page.limit)}
    moments = {
        Order.PUBLISHED_AT: last.published_at,
        Order.CHANGED_AT: last.changed_at,
        Order.CREATED_AT: last.created_at,
    }
    text = f"{letter}{moments[page.order]}.{last.id}"
    return {"cursor": base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")}
