"""What archives need of rules; `wiring` passes it on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.engine.database import Read, Write
from tidings.rules import store
from tidings.rules.model import SENDING, RuleFields
from tidings.rules.rules import add
from tidings.services.listeners import Listeners


class OwnRuleArchiver:
    """Reads and adds rules inside of the transactions of archives."""

    def __init__(self, listeners: Listeners) -> None:
        self._listeners = listeners

    def list_all(self, db: Read, user_id: int) -> Sequence[dict[str, Any]]:
        """Return the rules of a user in their order, as members of JSON, with the ids of this database."""
        return [msgspec.to_builtins(RuleFields.of(rule)) for rule in store.list_all(db, user_id)]

    def add(self, db: Write, user_id: int, values: Mapping[str, Any]) -> None:
        """Add a rule as the last one. Raises InvalidInput."""
        try:
            fields = msgspec.convert(values, RuleFields)
        except msgspec.ValidationError as error:
            raise InvalidInput(msg("this version does not know its scope or one of its actions.")) from error
        add(db, user_id, fields.checked(), self._listeners)

    def sends(self, action: str) -> bool:
        """Return whether an action sends entries to other services."""
        return action in SENDING
