"""How signing in is joined to the rest: services, listeners, endpoints and pages."""

from __future__ import annotations

from tidings.services.listeners import CleanupTask
from tidings.sign_in.services import SignInServices
from tidings.storage.accounts import pending_sign_ins
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> SignInServices:
    """Return the ways of signing in, and tell the core of them."""
    parts.listeners.cleanup_tasks.append(CleanupTask("pending sign-ins", pending_sign_ins.remove_expired))
    return SignInServices()


SLICE = Slice(build=build)
