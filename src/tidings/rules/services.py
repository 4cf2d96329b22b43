"""The services of this slice, for its endpoints, its pages and its worker."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.rules.rules import Rules
from tidings.rules.runs import RuleRuns
from tidings.services import SliceServices


@dataclass(frozen=True, slots=True)
class RuleServices(SliceServices):
    """Rules with actions."""

    rules: Rules
    runs: RuleRuns

    def release_leases(self, worker: str) -> int:
        """Release the runs that a worker holds."""
        return self.runs.release_all(worker)
