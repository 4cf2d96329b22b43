"""Endpoints for when old unread entries become read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Struct

from tidings.api.schema_annotations import up_to
from tidings.base.errors import InvalidField, InvalidInput
from tidings.base.messages import msg
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.http.json_body import Int64
from tidings.old_unread.old_unread import MAX_DAYS
from tidings.old_unread.services import OldUnreadServices

routes = Routes("Old unread entries", after="Entries")


class ReadAfterOut(Struct, frozen=True):
    """After how many days without a change unread entries become read; 0: never. The nearest setting wins.

    days: of all feeds. categories, feeds: those with days of their own, by id.
    """

    days: int
    categories: dict[str, int]
    feeds: dict[str, int]


class ReadAfterUpdate(Struct, frozen=True):
    """days: of all feeds; 0: never. categories, feeds: days by id; null removes them. Others keep theirs."""

    days: Annotated[Int64 | None, up_to(MAX_DAYS)] = None
    categories: dict[str, int | None] | None = None
    feeds: dict[str, int | None] | None = None


@routes.get("/v1/read-after")
def get_read_after(caller: User, old: OldUnreadServices) -> ReadAfterOut:
    """Get after how many days old unread entries become read."""
    settings = old.old_unread.settings(caller.id)
    return ReadAfterOut(
        next((one.days for one in settings if one.category_id is None and one.feed_id is None), 0),
        {str(one.category_id): one.days for one in settings if one.category_id is not None},
        {str(one.feed_id): one.days for one in settings if one.feed_id is not None},
    )


@routes.put("/v1/read-after", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput,))
def update_read_after(caller: User, old: OldUnreadServices, body: ReadAfterUpdate) -> ReadAfterOut:
    """Set after how many days old unread entries become read. Starred entries never do; a worker does it once a day."""
    old.old_unread.update(
        caller.id,
        days=body.days,
        category_days=_by_id("categories", body.categories or {}),
        feed_days=_by_id("feeds", body.feeds or {}),
    )
    return get_read_after(caller, old)


def _by_id(field: str, days: Mapping[str, int | None]) -> dict[int, int | None]:
    for name in days:
        if not (name.isascii() and name.isdigit() and len(name) < 10):
            raise InvalidField(field, msg("{name} is not an id.", name=repr(name[:40])))
    return {int(name): number for name, number in days.items()}
