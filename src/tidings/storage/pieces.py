"""What the entries of a source's last document were read as, by digests of their texts (`domain.formats.pieces`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from tidings.storage.database import Read, Write
from tidings.storage.lists import among
from tidings.storage.schema import source_pieces

_some = select(source_pieces.c.source_id, source_pieces.c.packed).where(among(source_pieces.c.source_id, "ids"))
_new = insert(source_pieces)
_keep = _new.on_conflict_do_update(index_elements=["source_id"], set_={"packed": _new.excluded.packed})


def some(db: Read, source_ids: Iterable[int]) -> dict[int, bytes]:
    """Packed, by source id, where there is anything."""
    return dict(db.tuples(_some, ids=list(source_ids)))


def keep(db: Write, packed: Mapping[int, bytes]) -> None:
    """Instead of what was kept before. packed: by source id; the caller holds the sources."""
    db.run_many(_keep, [{"source_id": id_, "packed": one} for id_, one in sorted(packed.items())])
