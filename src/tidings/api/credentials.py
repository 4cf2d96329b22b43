"""Reads the credentials of a request to the API from its headers."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from tidings.base.errors import Unauthorized
from tidings.http.requests import Network, Request
from tidings.services.accounts.authentication import WRONG_PASSWORD, Credentials


def credentials_of(request: Request, trusted: Sequence[Network]) -> Credentials:
    """Returns the credentials of a request. Raises Unauthorized if they cannot be decoded.

    trusted: proxies whose X-Forwarded-For is used.
    """
    address = request.address(trusted)
    if token := request.headers.get("x-auth-token", "").strip():
        return Credentials(token=token, address=address)
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return Credentials(address=address)
    try:
        username, _, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise Unauthorized(WRONG_PASSWORD) from error
    if "\0" in username:
        raise Unauthorized(WRONG_PASSWORD)  # such a user name cannot exist, and PostgreSQL refuses the parameter
    return Credentials(username=username, password=password, address=address)
