r"""Addresses of entries, changed by one rule: `rewrite("^https://m\.(.*)"|"https://$1")`."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from tidings.domain.errors import InvalidRule
from tidings.domain.rules.problems import Problems, attempt, refuse
from tidings.domain.rules.regex import Regex, Template, compile_regex, parse_template
from tidings.domain.rules.syntax import unquoted

_STRING: Final = r'("(?:[^"\\\n]|\\[^\n])+")'
_RULE: Final = re.compile(rf"rewrite\(\s*{_STRING}\s*\|\s*{_STRING}\s*\)")


class UrlRewrite(Struct, frozen=True):
    pattern: Regex
    replacement: Template

    def apply(self, url: str) -> str:
        """GaveUp when the result would be absurdly long."""
        return self.pattern.replace(url, self.replacement)


def parse_url_rewrite(text: str, *, field: str) -> UrlRewrite | None:
    """None for a blank text. InvalidRule for anything but one complete rule."""
    problems: Problems = []
    rule = read_url_rewrite(text, field=field, problems=problems)
    refuse(problems)
    return rule


def read_url_rewrite(text: str, *, field: str, problems: Problems) -> UrlRewrite | None:
    if not text.strip():
        return None
    return attempt(lambda: _parse(text.strip()), problems=problems, field=field)


def _parse(text: str) -> UrlRewrite:
    found = _RULE.fullmatch(text)
    if found is None:
        raise InvalidRule(
            'Addresses are rewritten by exactly one rule of the form rewrite("expression"|"replacement").'
        )
    pattern = compile_regex(unquoted(found[1]))
    return UrlRewrite(pattern, parse_template(unquoted(found[2]), pattern))
