"""Icons, shared by all feeds that show them. A user sees those of the own feeds."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, exists, insert, select

from tidings.domain.icons import Icon, IconImage
from tidings.storage.engine.database import Read, Write, columns
from tidings.storage.schema import feeds, icons

_shown = select(*columns(icons, Icon)).where(
    exists().where(feeds.c.user_id == bindparam("user"), feeds.c.icon_id == icons.c.id)
)
_by_id = _shown.where(icons.c.id == bindparam("id"))
_of_feed = (
    select(*columns(icons, Icon))
    .select_from(feeds.join(icons, icons.c.id == feeds.c.icon_id))
    .where(feeds.c.user_id == bindparam("user"), feeds.c.id == bindparam("feed"))
)
# Held until the transaction ends: nobody takes it away as unused before the feed has it.
_same = select(icons.c.id).where(icons.c.digest == bindparam("digest")).with_for_update(read=True, key_share=True)
_is_unused = ~exists().where(feeds.c.icon_id == icons.c.id)
_unused = select(icons.c.id).where(_is_unused).limit(bindparam("limit"))
_remove_unused = delete(icons).where(icons.c.id.in_(_unused.scalar_subquery()), _is_unused)


def get(db: Read, user_id: int, icon_id: int) -> Icon | None:
    """None as well when no feed of the user shows it."""
    return db.one(Icon, _by_id, user=user_id, id=icon_id)


def of_feed(db: Read, user_id: int, feed_id: int) -> Icon | None:
    return db.one(Icon, _of_feed, user=user_id, feed=feed_id)


def add(db: Write, picture: IconImage, *, digest: str, external_id: str) -> int:
    """The id of this picture, which may be there already.

    digest: of content and media type. external_id: its public name if it is new.
    InvalidInput when somebody else stores the same one at this moment: then it is there the next time.
    """
    known: int | None = db.scalar(_same, digest=digest)
    if known is not None:
        return known
    values = {"mime_type": picture.mime_type, "content": picture.content, "external_id": external_id}
    return db.insert(insert(icons).values(digest=digest, **values))


def remove_unused(db: Write, limit: int = 500) -> int:
    """Those that no feed of anybody shows any more, so many at most; how many it were."""
    return db.run(_remove_unused, limit=limit)
