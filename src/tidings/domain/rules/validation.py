"""Rules are checked when they are written, so that nobody waits for a rule that can never work."""

from __future__ import annotations

from tidings.domain.rules.filters import parse_filters, parse_list
from tidings.domain.rules.rewrite import parse_rewrite
from tidings.domain.rules.scraper import validate_selector
from tidings.domain.rules.url_rewrite import parse_url_rewrite


def validate_feed_rules(
    *,
    scraper_rules: str | None = None,
    rewrite_rules: str | None = None,
    urlrewrite_rules: str | None = None,
    blocklist_rules: str | None = None,
    keeplist_rules: str | None = None,
    block_filter_entry_rules: str | None = None,
    keep_filter_entry_rules: str | None = None,
) -> None:
    """InvalidRule for the first rule that cannot be used; it names the field. None and "" are fine."""
    validate_selector(scraper_rules or "", field="scraper_rules")
    parse_rewrite(rewrite_rules or "", field="rewrite_rules")
    parse_url_rewrite(urlrewrite_rules or "", field="urlrewrite_rules")
    parse_list(blocklist_rules or "", field="blocklist_rules")
    parse_list(keeplist_rules or "", field="keeplist_rules")
    validate_user_rules(
        block_filter_entry_rules=block_filter_entry_rules, keep_filter_entry_rules=keep_filter_entry_rules
    )


def validate_user_rules(
    *, block_filter_entry_rules: str | None = None, keep_filter_entry_rules: str | None = None
) -> None:
    """The same for the rules a user has for all feeds."""
    parse_filters(block_filter_entry_rules or "", field="block_filter_entry_rules")
    parse_filters(keep_filter_entry_rules or "", field="keep_filter_entry_rules")
