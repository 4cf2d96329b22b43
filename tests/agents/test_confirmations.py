"""Tokens for calls that change much."""

from __future__ import annotations

import pytest

from tidings.agents.confirmations import LIFETIME, Confirmations
from tidings.base.errors import InvalidField
from tidings.base.times import SECOND, Instant
from tidings.engine.database import Database
from tidings.services.accounts.server_secret import ServerSecret

pytestmark = pytest.mark.slow

NOW = Instant(1_800_000_000 * SECOND)


def test_a_token_is_for_one_call_of_one_user_and_ends(database: Database) -> None:
    confirmations = Confirmations(ServerSecret(database))
    token = confirmations.token(1, "mark_all_read", ["7"], NOW)

    # Another process with the same database.
    others = Confirmations(ServerSecret(database))
    assert others.told_at(token, 1, "mark_all_read", ["7"], Instant(NOW + LIFETIME)) == NOW
    for user, tool, arguments in ((2, "mark_all_read", ["7"]), (1, "create_rule", ["7"]), (1, "mark_all_read", ["8"])):
        with pytest.raises(InvalidField, match="not the token of this call"):
            others.told_at(token, user, tool, arguments, NOW)
    for now in (NOW + LIFETIME + 1, NOW - 1):
        with pytest.raises(InvalidField, match="expired"):
            others.told_at(token, 1, "mark_all_read", ["7"], Instant(now))


@pytest.mark.one_engine
@pytest.mark.parametrize("forged", ["", "A", "=", "é", "AAAA", "A" * 38, " ", "a b"])
def test_what_is_not_a_token_is_refused(database: Database, forged: str) -> None:
    with pytest.raises(InvalidField, match="not the token of this call"):
        Confirmations(ServerSecret(database)).told_at(forged, 1, "mark_all_read", [], NOW)
