"""What an attempt is, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Attempt:
    """name: unique within its theme. tries: what the attacker does. through_when: what would count as a success."""

    name: str
    tries: str
    through_when: str


@dataclass(frozen=True)
class Result:
    """evidence: what was observed when the attempt got through, "" when it was held off.

    not_tried: why it could not be tried at all, "" when it was.
    """

    attempt: Attempt
    evidence: str = ""
    not_tried: str = ""
