"""Senders and secret addresses as archives have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.engine.database import Read, Write
from tidings.newsletters import model, store
from tidings.newsletters.newsletters import feed_of_letters
from tidings.services.clock import Clock


class SenderArchiver:
    """Lists senders and addresses for an archive, and adds those of an archive."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def list_senders(self, db: Read, user_id: int) -> list[dict[str, Any]]:
        """Return the senders of a user: key, name, address, feed_id and blocked."""
        return [
            {
                "key": one.sender_key,
                "name": one.name,
                "address": one.address,
                "feed_id": one.feed_id,
                "blocked": one.is_blocked,
            }
            for one in store.list_senders(db, user_id)
        ]

    def list_addresses(self, db: Read, user_id: int) -> list[dict[str, Any]]:
        """Return the secret addresses of a user: name, secret, one_feed and category_id."""
        return [
            {"name": one.name, "secret": one.secret, "one_feed": one.is_one_feed, "category_id": one.category_id}
            for one in store.list_addresses(db, user_id)
        ]

    def add_sender(self, db: Write, user_id: int, values: Mapping[str, Any]) -> None:
        """Add a sender. Raises InvalidInput."""
        key = model.validate_key(values["key"])
        name = model.validate_name(values["name"])
        address = values["address"]
        if not model.is_mail_address(address):
            raise InvalidInput(msg("its mail address cannot be used."))
        if values["feed_id"] is not None:
            feed_of_letters(db, user_id, values["feed_id"])
        if store.count_senders(db, user_id) >= model.MAX_SENDERS:
            raise InvalidInput(msg("the account has {max} senders, which is the maximum.", max=model.MAX_SENDERS))
        sender_id = store.ensure_sender(db, user_id, key, name)
        changed = {"address": address, "feed_id": values["feed_id"], "is_blocked": values["blocked"]}
        store.change_sender(db, user_id, sender_id, **changed)

    def add_address(self, db: Write, user_id: int, values: Mapping[str, Any]) -> None:
        """Add a secret address. Raises InvalidInput, also if another account has the secret."""
        name = model.validate_name(values["name"])
        secret = values["secret"]
        if not model.SECRET.fullmatch(secret):
            raise InvalidInput(msg("its secret cannot be used."))
        if store.address_by_secret(db, secret) is not None:
            raise InvalidInput(msg("its secret is in use."))
        if len(store.list_addresses(db, user_id)) >= model.MAX_ADDRESSES:
            raise InvalidInput(
                msg("You have {max} addresses, which is the maximum: delete one first.", max=model.MAX_ADDRESSES)
            )
        added = {"is_one_feed": values["one_feed"], "category_id": values["category_id"], "created_at": self._clock()}
        store.add_address(db, user_id, {"name": name, "secret": secret, **added})
