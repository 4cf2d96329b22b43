r"""Rewrites URLs of entries by one rule: `rewrite("^https://m\.(.*)"|"https://$1")`."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from tidings.base.messages import msg
from tidings.content.errors import InvalidRule
from tidings.content.rules.budget import RuleBudget
from tidings.content.rules.regex import Regex, ReplacementTemplate, compile_regex, parse_template
from tidings.content.rules.rewrite_syntax import unquote_string
from tidings.content.rules.rule_errors import RuleErrors, collect_error, raise_first

# The longest address of a document.
MAX_URL_CHARS: Final = 8_000

_STRING: Final = r'("(?:[^"\\\n]|\\[^\n])+")'
_RULE: Final = re.compile(rf"rewrite\(\s*{_STRING}\s*\|\s*{_STRING}\s*\)")


class UrlRewrite(Struct, frozen=True):
    pattern: Regex
    replacement: ReplacementTemplate

    def apply(self, url: str, budget: RuleBudget) -> str:
        """Return the rewritten URL. Raises RuleBudgetExceeded if it is too long, or the budget is used up."""
        return self.pattern.replace(url, self.replacement, budget, max_chars=MAX_URL_CHARS)


def parse_url_rewrite(text: str, *, field: str) -> UrlRewrite | None:
    """Return the rule; None for a blank text. Raises InvalidRule for anything but one complete rule."""
    errors = RuleErrors()
    rule = read_url_rewrite(text, field=field, errors=errors)
    raise_first(errors)
    return rule


def read_url_rewrite(text: str, *, field: str, errors: RuleErrors) -> UrlRewrite | None:
    """Return the rule, or None. Adds an error to `errors` if it is unusable."""
    if not text.strip():
        return None
    return collect_error(lambda: _parse(text.strip()), errors=errors, field=field)


def _parse(text: str) -> UrlRewrite:
    match = _RULE.fullmatch(text)
    if match is None:
        raise InvalidRule(
            msg('Addresses are rewritten by exactly one rule of the form rewrite("expression"|"replacement").')
        )
    pattern = compile_regex(unquote_string(match[1]))
    return UrlRewrite(pattern, parse_template(unquote_string(match[2]), pattern))
