"""Logs rules of users that could not be followed."""

from __future__ import annotations

from collections.abc import Iterable

import structlog

log = structlog.get_logger()


def log_rule_errors(feed_id: int, errors: Iterable[str]) -> None:
    """Log each error once."""
    for error in dict.fromkeys(errors):
        log.info("rule not followed", feed=feed_id, reason=error)
