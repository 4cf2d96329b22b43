"""Attempts and their results."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Attempt:
    """name: unique within its theme. tries: what the attacker does. succeeds_if: what would count as a success."""

    name: str
    tries: str
    succeeds_if: str


@dataclass(frozen=True)
class Result:
    """evidence: what was observed if the attempt succeeded, "" if it was blocked.

    not_tried: why it was impossible on this machine, "" if it was tried.
    """

    attempt: Attempt
    evidence: str = ""
    not_tried: str = ""
