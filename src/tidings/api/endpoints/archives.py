"""Endpoint that exports an account."""

from __future__ import annotations

from starlette.responses import Response

from tidings.domain.accounts.users import User
from tidings.http.endpoints import Media, Routes
from tidings.http.responses import Download
from tidings.services import Services

routes = Routes("Archives")

ZIP = Media("application/zip", {"type": "string", "format": "binary"})


@routes.get("/v1/export/archive", responses={200: ZIP})
def export_account(caller: User, services: Services) -> Response:
    """Export the whole account as an archive: settings, feeds with rules, entries with state and content.

    The ZIP file is sent while it is made. It has no passwords of feeds and no secrets of integrations.
    """
    return Download(services.account_export.stream(caller), "tidings-archive.zip", "application/zip")
