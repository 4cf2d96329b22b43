"""Claims about documents, and the share that holds: every corpus is scored in this form."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct


class Claim(Struct, frozen=True):
    """One field of one document, as expected and as found."""

    document: str
    field: str
    expected: object
    found: object

    @property
    def holds(self) -> bool:
        return self.expected == self.found


def share(claims: Iterable[Claim]) -> float:
    """Return the share of claims that hold, 0 to 1; 1 without claims."""
    outcomes = [claim.holds for claim in claims]
    return sum(outcomes) / len(outcomes) if outcomes else 1.0


def table(claims: Iterable[Claim]) -> str:
    """Return a table with the number of claims and of those that hold, for each field and in total."""
    by_field: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        by_field[claim.field].append(claim)
    everything = [claim for group in by_field.values() for claim in group]
    rows = [*sorted(by_field.items()), ("all", everything)]
    return "\n".join(
        f"{field:24} {sum(claim.holds for claim in group):5} of {len(group):5}  {share(group):7.1%}"
        for field, group in rows
    )


def misses(claims: Iterable[Claim], reasons: Mapping[str, str] | None = None) -> str:
    """Return the claims that do not hold, one per line, shortened.

    reasons: why a document misses, by how its name begins.
    """
    return "\n".join(
        f"{claim.document}: {claim.field}: expected {str(claim.expected)[:90]!r}, found {str(claim.found)[:90]!r}"
        + _why(claim, reasons or {})
        for claim in claims
        if not claim.holds
    )


def _why(claim: Claim, reasons: Mapping[str, str]) -> str:
    return next((f" ({reason})" for start, reason in reasons.items() if claim.document.startswith(start)), "")
