"""Applies rewrite rules to title and content of an entry, before the content is cleaned."""

from __future__ import annotations

from functools import partial
from typing import Final

from msgspec import Struct

from tidings.base.messages import Message, msg
from tidings.content.rules.budget import RuleBudgetExceeded
from tidings.content.rules.regex import MAX_RESULT_CHARS
from tidings.content.rules.rewrite_syntax import RuleCall, read_calls
from tidings.content.rules.rewrites.registry import build_action
from tidings.content.rules.rule_entry import RewriteAction, RuleEntry
from tidings.content.rules.rule_errors import RuleErrors, collect_error, raise_first

# Applied last, so that its link comes first in the content.
_APPLIED_LAST: Final = "add_pdf_download_link"


class RewriteRule(Struct, frozen=True):
    """A rewrite rule that is ready to be applied."""

    number: int
    """Position in the text, counted from 1."""
    name: str
    action: RewriteAction


RewriteRules = tuple[RewriteRule, ...]


def parse_rewrites(text: str, *, field: str = "rewrite_rules") -> RewriteRules:
    """Return the rules in the order of application. Raises InvalidRule for the first unusable rule."""
    errors = RuleErrors()
    rules = read_rewrites(text, field=field, errors=errors)
    raise_first(errors)
    return rules


def read_rewrites(text: str, *, field: str, errors: RuleErrors) -> RewriteRules:
    """Return the usable rules and add an error to `errors` for each of the others."""
    calls = read_calls(text, field=field, errors=errors)
    rules = [
        collect_error(partial(_build_rule, call), errors=errors, field=field, number=call.number) for call in calls
    ]
    return tuple(sorted(filter(None, rules), key=lambda rule: rule.name == _APPLIED_LAST))


def apply_rewrites(entry: RuleEntry, rules: RewriteRules) -> tuple[RuleEntry, tuple[Message, ...]]:
    """Return the rewritten entry, and a warning for each rule that was skipped.

    A rule that makes the content longer than MAX_RESULT_CHARS is skipped. If the budget of all rules is used up, one
    warning is for all that were left.
    """
    warnings: list[Message] = []
    for rule in rules:
        try:
            entry.budget.check()
        except RuleBudgetExceeded as error:
            warnings.append(
                msg(
                    "Rewrite rule {number} ({name}) and those after it were skipped: {reason}.",
                    number=rule.number,
                    name=rule.name,
                    reason=error.reason,
                )
            )
            break
        try:
            entry = _applied(rule, entry)
        except RuleBudgetExceeded as error:
            warnings.append(
                msg(
                    "Rewrite rule {number} ({name}) was skipped: {reason}.",
                    number=rule.number,
                    name=rule.name,
                    reason=error.reason,
                )
            )
    return entry, tuple(warnings)


def _applied(rule: RewriteRule, entry: RuleEntry) -> RuleEntry:
    changed = rule.action(entry)
    chars = len(changed.content)
    if changed.content != entry.content:
        entry.budget.spend(chars)
    if chars > MAX_RESULT_CHARS and chars > len(entry.content):
        raise RuleBudgetExceeded(msg("it makes the text too long"))
    return changed


def _build_rule(call: RuleCall) -> RewriteRule:
    return RewriteRule(call.number, call.name, build_action(call))
