"""Error pages: what happened, what Tidings does about it, what the user can do."""

from __future__ import annotations

import msgspec
import structlog
from starlette.exceptions import HTTPException

from tidings.base.errors import Forbidden, NotFound, TidingsError, Unauthorized
from tidings.http.binding import InvalidPathId
from tidings.http.responses import COMMON_STATUSES
from tidings.http.uploads import UploadTooLarge
from tidings.web.context import PageResponse, RequestContext
from tidings.web.language import N_, _
from tidings.web.message_translation import translated

log = structlog.get_logger()

# The first match wins; any other error in a request is a 400.
STATUSES: tuple[tuple[type[TidingsError], int], ...] = (
    (Unauthorized, 403),
    (Forbidden, 403),
    (NotFound, 404),
    (InvalidPathId, 404),
    (UploadTooLarge, 413),
    *COMMON_STATUSES,
)
TITLES = {
    400: N_("This did not work"),
    403: N_("You do not have access"),
    404: N_("Page not found"),
    405: N_("This page cannot be opened"),
    408: N_("This did not work"),
    409: N_("This did not work"),
    413: N_("This did not work"),
    429: N_("This did not work"),
    500: N_("Something went wrong"),
    507: N_("This did not work"),
    503: N_("Back in a moment"),
}
EXPLANATIONS = {
    400: "",
    403: "",
    404: N_("The address may be mistyped, or what was here has been deleted."),
    405: N_("This address is only for forms. Nothing was changed."),
    408: "",
    409: "",
    413: "",
    429: "",
    507: "",
    500: N_("The error is on our side, and the log of the server has the details. Trying again may help."),
    503: N_("The database does not answer at the moment. Try again in a minute."),
}


def error_page(error: Exception, context: RequestContext) -> PageResponse:
    """Return the page for an error. Unexpected errors are logged, and their text is not shown."""
    if isinstance(error, HTTPException):
        return msgspec.structs.replace(status_page(error.status_code), headers=dict(error.headers or {}))
    if not isinstance(error, TidingsError):
        log.error("page failed", method=context.request.method, path=context.request.scope["path"], exc_info=error)
        return status_page(500)
    status = next(status for kind, status in STATUSES if isinstance(error, kind))
    return status_page(status, "" if status in (404, 503) else translated(error.text))


def status_page(status: int, message: str = "") -> PageResponse:
    explanation = message or (_(EXPLANATIONS[status]) if EXPLANATIONS[status] else "")
    return PageResponse(
        "failure.html", {"title": _(TITLES[status]), "explanation": explanation, "code": status}, status=status
    )
