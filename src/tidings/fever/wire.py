"""The response of the Fever API. Members that were not asked for are absent.

Numbers are numbers and lists of ids are texts: clients compute with the former and split the latter.
"""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

API_VERSION = 3


class FeverGroup(Struct, frozen=True):
    id: int
    title: str


class FeedsOfGroup(Struct, frozen=True):
    """feed_ids: separated by commas."""

    group_id: int
    feed_ids: str


class FeverFeed(Struct, frozen=True):
    """favicon_id: 0 for a feed without an icon. last_updated_on_time: Unix seconds of the last check."""

    id: int
    favicon_id: int
    title: str
    url: str
    site_url: str
    last_updated_on_time: int
    is_spark: int = 0


class Favicon(Struct, frozen=True):
    """data: media type, semicolon, `base64,` and the image; a data: URL without its scheme."""

    id: int
    data: str


class FeverItem(Struct, frozen=True):
    """is_saved, is_read: 0 or 1. created_on_time: Unix seconds of the publication."""

    id: int
    feed_id: int
    title: str
    author: str
    html: str
    url: str
    is_saved: int
    is_read: int
    created_on_time: int


class FeverResponse(Struct, frozen=True, kw_only=True):
    """auth: 1 if the key is known; otherwise only api_version and auth are sent.

    last_refreshed_on_time: Unix seconds of the last check of a feed of the user; 0 if there was none.
    """

    api_version: int = API_VERSION
    auth: int
    last_refreshed_on_time: int | UnsetType = UNSET
    groups: list[FeverGroup] | UnsetType = UNSET
    feeds: list[FeverFeed] | UnsetType = UNSET
    feeds_groups: list[FeedsOfGroup] | UnsetType = UNSET
    favicons: list[Favicon] | UnsetType = UNSET
    items: list[FeverItem] | UnsetType = UNSET
    total_items: int | UnsetType = UNSET
    links: list[FeverItem] | UnsetType = UNSET
    unread_item_ids: str | UnsetType = UNSET
    saved_item_ids: str | UnsetType = UNSET


class FeverError(Struct, frozen=True):
    """auth: 1 if the key is known."""

    error_message: str
    api_version: int = API_VERSION
    auth: int = 0
