"""Which scope of an API key each endpoint needs: the table behind the check, the OpenAPI document and the handbook."""

from __future__ import annotations

from tidings.domain.accounts.rights import KeyScope
from tidings.http.endpoints import Endpoint


def scope_of(endpoint: Endpoint) -> KeyScope | None:
    """Return the scope that an endpoint needs; None for a public one.

    What an endpoint declares beside its path; otherwise `admin` for administrators' endpoints and `read` for GET.
    Raises TypeError for a change that declares none.
    """
    if endpoint.is_public:
        return None
    if endpoint.scope:
        return KeyScope(endpoint.scope)
    if endpoint.admin:
        return KeyScope.ADMIN
    if endpoint.method == "GET":
        return KeyScope.READ
    raise TypeError(f"{endpoint.method} {endpoint.path} declares no scope")
