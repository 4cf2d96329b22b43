"""The addresses that the pages of entries have, as far as the pages were fetched and it is not the entries' own.

The slice `duplicates` uses them to find entries of other feeds with that address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, delete

from tidings.content.duplicates import canonical_address, digest, place_on_page
from tidings.engine.database import Write
from tidings.engine.statements import insert_rows, upsert
from tidings.storage.schema import page_addresses

_put = upsert(page_addresses, ["entry_id"], update=("url", "address"))
_remove = delete(page_addresses).where(
    page_addresses.c.user_id == bindparam("user"), page_addresses.c.entry_id == bindparam("entry")
)


def row(user_id: int, entry_id: int, entry_url: str, page_url: str) -> dict[str, Any] | None:
    """Return the row of `page_addresses` of an entry; None if its page has no other address than itself.

    An entry that is only a place of a page, such as a comment, does not have the page's address.
    """
    if not page_url or page_url == entry_url or place_on_page(entry_url):
        return None
    address = canonical_address(page_url)
    if not address or address == canonical_address(entry_url):
        return None
    return {"entry_id": entry_id, "user_id": user_id, "url": page_url, "address": digest(address)}


def add(db: Write, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add rows of new entries."""
    insert_rows(db, page_addresses, rows)


def put(db: Write, user_id: int, entry_id: int, entry_url: str, page_url: str) -> None:
    """Record the address of the page of an entry, which was fetched."""
    values = row(user_id, entry_id, entry_url, page_url)
    if values is None:
        db.run(_remove, user=user_id, entry=entry_id)
    else:
        db.run(_put.values(**values))
