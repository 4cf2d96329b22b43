"""Checks rules when they are saved, so that no stored rule is unusable.

Rules that match nothing are accepted, as by Miniflux: a selector with a mistake, a date that cannot be read. The pages
name them (`pipeline.CompiledRules.errors`).
"""

from __future__ import annotations

from tidings.content.rules.filters import parse_entry_list, parse_filters
from tidings.content.rules.rewrite import parse_rewrites
from tidings.content.rules.scraper import validate_selector
from tidings.content.rules.url_rewrite import parse_url_rewrite


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
    """Raise InvalidRule, with the field, for the first unusable rule. None and "" are valid."""
    validate_selector(scraper_rules or "", field="scraper_rules")
    parse_rewrites(rewrite_rules or "", field="rewrite_rules")
    parse_url_rewrite(urlrewrite_rules or "", field="urlrewrite_rules")
    parse_entry_list(blocklist_rules or "", field="blocklist_rules")
    parse_entry_list(keeplist_rules or "", field="keeplist_rules")
    validate_user_rules(
        block_filter_entry_rules=block_filter_entry_rules, keep_filter_entry_rules=keep_filter_entry_rules
    )


def validate_user_rules(
    *, block_filter_entry_rules: str | None = None, keep_filter_entry_rules: str | None = None
) -> None:
    """The same for the rules that a user has for all feeds."""
    parse_filters(block_filter_entry_rules or "", field="block_filter_entry_rules")
    parse_filters(keep_filter_entry_rules or "", field="keep_filter_entry_rules")
