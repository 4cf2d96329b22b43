"""The key of a request, and the caller that it belongs to."""

from __future__ import annotations

from msgspec import Struct

from tidings.fever.parameters import Parameters
from tidings.http.requests import Request
from tidings.services.accounts.app_logins import FeverLogin


class FeverCaller(Struct, frozen=True):
    """login: None without a key, or with an unknown one."""

    login: FeverLogin | None = None


def key_of(request: Request) -> str:
    """Returns the key, which is in the form or, from clients that mark with GET, in the query; "" without one."""
    return Parameters(request).text("api_key")
