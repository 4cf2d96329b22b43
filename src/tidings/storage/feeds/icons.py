"""Icons, shared by all feeds that use them. A user can read the icons of the user's own feeds."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, exists, insert, select

from tidings.content.icons import Icon, IconImage
from tidings.engine.database import Read, Write, columns, is_distributed
from tidings.engine.statements import in_list
from tidings.storage.schema import feeds, icons

_select_visible = select(*columns(icons, Icon)).where(
    exists().where(feeds.c.user_id == bindparam("user"), feeds.c.icon_id == icons.c.id)
)
_select_all = _select_visible.order_by(icons.c.id)
_select_by_id = _select_visible.where(icons.c.id == bindparam("id"))
_select_by_feed = (
    select(*columns(icons, Icon))
    .select_from(feeds.join(icons, icons.c.id == feeds.c.icon_id))
    .where(feeds.c.user_id == bindparam("user"), feeds.c.id == bindparam("feed"))
)
_select_by_name = select(*columns(icons, Icon)).where(icons.c.external_id == bindparam("external_id"))
# Locked, so that no cleanup deletes it as unused before the feed refers to it.
_lock_same = select(icons.c.id).where(icons.c.digest == bindparam("digest")).with_for_update(read=True, key_share=True)
_is_unused = ~exists().where(feeds.c.icon_id == icons.c.id)
_select_unused = select(icons.c.id).where(_is_unused).limit(bindparam("limit"))
_delete_unused = delete(icons).where(icons.c.id.in_(_select_unused.scalar_subquery()), _is_unused)
# Where feeds are on other servers, one statement cannot look for them and remove what they do not have.
_select_ids = select(icons.c.id)
_select_used = select(feeds.c.icon_id).where(feeds.c.icon_id.is_not(None)).distinct()
_delete_listed = delete(icons).where(in_list(icons.c.id, "ids"))


def get(db: Read, user_id: int, icon_id: int) -> Icon | None:
    """Return an icon; None if no feed of the user has it."""
    return db.one(Icon, _select_by_id, user=user_id, id=icon_id)


def list_all(db: Read, user_id: int) -> list[Icon]:
    """Return the icons of the user's feeds, by id."""
    return db.all(Icon, _select_all, user=user_id)


def of_feed(db: Read, user_id: int, feed_id: int) -> Icon | None:
    return db.one(Icon, _select_by_feed, user=user_id, feed=feed_id)


def by_external_id(db: Read, external_id: str) -> Icon | None:
    """Return the icon of any feed by its public name, which is random: only its viewers can ask for it."""
    return db.one(Icon, _select_by_name, external_id=external_id)


def add(db: Write, picture: IconImage, *, digest: str, external_id: str) -> int:
    """Add an icon unless the same is stored already. Returns its id.

    digest: the hash of content and media type. external_id: the public name of a new icon.
    Raises InvalidInput if another transaction adds the same icon at this moment; a repeated call finds it.
    """
    known: int | None = db.scalar(_lock_same, digest=digest)
    if known is not None:
        return known
    values = {"mime_type": picture.mime_type, "content": picture.content, "external_id": external_id}
    return db.insert(insert(icons).values(digest=digest, **values))


def remove_unused(db: Write, limit: int = 500) -> int:
    """Delete up to `limit` icons that no feed references. Returns the number deleted."""
    if not is_distributed(db.connection):
        return db.run(_delete_unused, limit=limit)
    unused = sorted(set(db.scalars(_select_ids)).difference(db.scalars(_select_used)))[:limit]
    return db.run(_delete_listed, ids=unused) if unused else 0
