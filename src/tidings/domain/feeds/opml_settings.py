"""Settings of a feed in OPML, as attributes beyond the standard."""

from __future__ import annotations

import re
from typing import Final

from tidings.domain.errors import InvalidInput
from tidings.domain.feeds import feed_changes
from tidings.domain.feeds.feed_settings import FEED_SETTINGS, NUMBERS, TEXTS
from tidings.domain.messages import msg

# The attributes, and the feed's field that each one sets.
SETTINGS: Final = {setting.opml: setting.name for setting in FEED_SETTINGS if setting.opml}
_BOOLEANS: Final = dict.fromkeys(("true", "1", "t", "yes"), True) | dict.fromkeys(("false", "0", "f", "no", ""), False)


def read_setting(field: str, text: str) -> str | int:
    """Returns the value of a setting. Raises InvalidInput, whose message can follow the attribute's name."""
    if field in TEXTS:
        feed_changes.validate({field: text})
        return text
    if field in NUMBERS:
        return _number(field, text.strip())
    value = _BOOLEANS.get(text.strip().lower())
    if value is None:
        raise InvalidInput(msg("{text} is neither true nor false.", text=repr(text[:40])))
    return value


def _number(field: str, text: str) -> int:
    if not re.fullmatch("-?[0-9]{1,9}", text):
        raise InvalidInput(msg("{text} is not a whole number.", text=repr(text[:40])))
    feed_changes.validate({field: int(text)})
    return int(text)
