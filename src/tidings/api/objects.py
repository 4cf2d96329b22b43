"""The objects of the core as the API shows them, for endpoints of slices that show several kinds."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from tidings.api.endpoints.categories import CategoryOut, category_out
from tidings.api.endpoints.enclosures import EnclosureOut, enclosure_out
from tidings.api.endpoints.feeds import FeedOut, encoded_feeds
from tidings.api.endpoints.labels import LabelOut, listed
from tidings.api.endpoints.users import UserOut, user_out
from tidings.api.feed_style import FeedStyle
from tidings.domain.accounts.users import User
from tidings.engine.database import Read
from tidings.storage.accounts import users
from tidings.storage.feeds import categories

__all__ = [
    "CategoryOut",
    "EnclosureOut",
    "FeedOut",
    "LabelOut",
    "UserOut",
    "categories_of",
    "enclosure_out",
    "feeds_of",
    "labels_of",
    "settings_of",
]


def settings_of(db: Read, user: User) -> dict[int, UserOut]:
    """Return the user as stored now, by id; nothing if it was deleted since the caller was recognised."""
    present = users.get(db, user.id)
    return {} if present is None else {present.id: user_out(present)}


def categories_of(db: Read, user: User) -> dict[int, CategoryOut]:
    """Return the categories of a user in their order, by id."""
    return {one.id: category_out(one) for one in categories.list_all(db, user.id)}


def labels_of(db: Read, user: User) -> dict[int, LabelOut]:
    """Return the labels of a user in their order, by id."""
    return {one.id: one for one in listed(db, user.id)}


def feeds_of(db: Read, user: User, feed_ids: Collection[int], style: FeedStyle) -> Mapping[int, msgspec.Raw]:
    """Return feeds of a user by id, each as JSON of FeedOut."""
    return encoded_feeds(db, user, feed_ids, style=style)
