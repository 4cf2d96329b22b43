"""Changing title and content of an entry as its feed's owner wishes, before the content is cleaned."""

from __future__ import annotations

from functools import partial
from typing import Final

from msgspec import Struct

from tidings.domain.rules.draft import Action, Draft
from tidings.domain.rules.problems import Problems, attempt, refuse
from tidings.domain.rules.regex import GaveUp
from tidings.domain.rules.registry import action_for
from tidings.domain.rules.syntax import Call, read_calls
from tidings.domain.wording import Words

# Its link is meant to stand before whatever the other rules leave.
_LAST: Final = "add_pdf_download_link"


class Rewrite(Struct, frozen=True):
    """number: counted from 1, as written."""

    number: int
    name: str
    action: Action


Rewrites = tuple[Rewrite, ...]


def parse_rewrite(text: str, *, field: str = "rewrite_rules") -> Rewrites:
    """In the order in which they are applied. InvalidRule for the first rule that cannot be used."""
    problems: Problems = []
    rules = read_rewrite(text, field=field, problems=problems)
    refuse(problems)
    return rules


def read_rewrite(text: str, *, field: str, problems: Problems) -> Rewrites:
    """The rules that can be used; what is wrong with the others is added to problems."""
    calls = read_calls(text, field=field, problems=problems)
    rules = [attempt(partial(_ready, call), problems=problems, field=field, number=call.number) for call in calls]
    return tuple(sorted(filter(None, rules), key=lambda rule: rule.name == _LAST))


def rewrite(draft: Draft, rules: Rewrites) -> tuple[Draft, tuple[Words, ...]]:
    """The changed draft, and a sentence for each rule that had to give up and changed nothing."""
    complaints: list[Words] = []
    for rule in rules:
        try:
            draft = rule.action(draft)
        except GaveUp as reason:
            complaints.append(f"Rewrite rule {rule.number} ({rule.name}) was skipped: {reason}.")
    return draft, tuple(complaints)


def _ready(call: Call) -> Rewrite:
    return Rewrite(call.number, call.name, action_for(call))
