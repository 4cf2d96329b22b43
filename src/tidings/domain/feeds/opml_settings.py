"""Settings of a feed in OPML, as attributes beyond the standard."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.domain.feeds import feed_changes
from tidings.domain.feeds.feed_settings import FEED_SETTINGS, NUMBERS, TEXTS

# Miniflux reads settings in its own namespace only; ours has what Miniflux does not have.
MINIFLUX_NAMESPACE: Final = "https://miniflux.app/opml"
OWN_NAMESPACE: Final = "urn:tidings:opml"
# The attributes without their namespace, which differs between forks of Miniflux, and the feed's field that each sets.
SETTINGS: Final = {setting.opml: setting.name for setting in FEED_SETTINGS if setting.opml}
# The fields that are written, with the attribute of each.
WRITTEN: Final = {
    setting.name: f"{'tidings' if setting.is_own else 'miniflux'}:{setting.opml}"
    for setting in FEED_SETTINGS
    if setting.opml
}
_BOOLEANS: Final = dict.fromkeys(("true", "1", "t", "yes"), True) | dict.fromkeys(("false", "0", "f", "no", ""), False)


def setting_attributes(values: Sequence[Any]) -> dict[str, str]:
    """Returns attributes, names with their prefix, for the settings that differ from a new feed's.

    values: the values of the fields in WRITTEN, in that order.
    """
    if not any(values):
        return {}
    return {
        name: "true" if value is True else str(value)
        for name, value in zip(WRITTEN.values(), values, strict=True)
        if value
    }


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
