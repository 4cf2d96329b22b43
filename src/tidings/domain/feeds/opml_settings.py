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
# The order of attributes in the files of Miniflux, and in ours since before. Others follow as they are declared.
_ORDER: Final = (
    "scraperRules", "rewriteRules", "urlRewriteRules", "blocklistRules", "keeplistRules", "blockFilterEntryRules",
    "keepFilterEntryRules", "userAgent", "crawler", "ignoreHTTPCache", "fetchViaProxy", "disabled", "noMediaPlayer",
    "hideGlobally", "allowSelfSignedCertificates", "disableHTTP2", "ignoreEntryUpdates", "checkIntervalMinutes",
    "keepReadDays", "keepUnreadDays", "matchEntriesByURL",
)  # fmt: skip
_PLACES: Final = {attribute: place for place, attribute in enumerate(_ORDER)}
IN_OPML: Final = sorted(
    (one for one in FEED_SETTINGS if one.setting.opml), key=lambda one: _PLACES.get(one.setting.opml, len(_ORDER))
)
# The attributes without their namespace, which differs between forks of Miniflux, and the feed's field that each sets.
SETTINGS: Final = {one.setting.opml: one.name for one in IN_OPML}
# The fields that are written, with the attribute of each.
WRITTEN: Final = {one.name: f"{'tidings' if one.setting.is_own else 'miniflux'}:{one.setting.opml}" for one in IN_OPML}
# Ours, of a feed in several folders: the outline in the folder that is its first category.
FIRST_CATEGORY: Final = "firstCategory"
# Of a feed that is made from a page: they go together, and only in our namespace.
PAGE_SETTINGS: Final = ("kind", "selectors")
_BOOLEANS: Final = dict.fromkeys(("true", "1", "t", "yes"), True) | dict.fromkeys(("false", "0", "f", "no", ""), False)


def setting_attributes(values: Sequence[Any]) -> dict[str, str]:
    """Return attributes, names with their prefix, for the settings that differ from a new feed's.

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
    """Return the value of a setting. Raises InvalidInput, whose message can follow the attribute's name."""
    if field in TEXTS:
        feed_changes.validate({field: text})
        return text
    if field in NUMBERS:
        return _number(field, text.strip())
    value = _BOOLEANS.get(text.strip().lower())
    if value is None:
        raise InvalidInput(msg("{text} is neither true nor false.", text=repr(text[:40])))
    return value


def read_page_settings(kind: str, selectors: str) -> dict[str, str]:
    """Return kind and selectors as they are stored. Raises InvalidInput."""
    values = feed_changes.validate({"kind": kind, "selectors": selectors})
    feed_changes.check_page(values["kind"], values["selectors"])
    return values


def is_true(text: str) -> bool:
    """Return whether the text of an attribute says yes."""
    return _BOOLEANS.get(text.strip().lower()) is True


def _number(field: str, text: str) -> int:
    if not re.fullmatch("-?[0-9]{1,9}", text):
        raise InvalidInput(msg("{text} is not a whole number.", text=repr(text[:40])))
    feed_changes.validate({field: int(text)})
    return int(text)
