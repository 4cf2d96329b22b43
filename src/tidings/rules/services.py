"""The services of this slice, for its endpoints, its pages and its worker."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.rules.rules import Rules
from tidings.services import SliceServices


@dataclass(frozen=True, slots=True)
class RuleServices(SliceServices):
    """Rules with actions."""

    rules: Rules
