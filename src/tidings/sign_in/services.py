"""The services of this slice, for its endpoints and pages."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.services import SliceServices


@dataclass(frozen=True, slots=True)
class SignInServices(SliceServices):
    """Ways of signing in, and the log of accounts."""
