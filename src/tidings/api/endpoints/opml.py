"""Endpoints that import and export OPML."""

from __future__ import annotations

from msgspec import Struct
from starlette.responses import Response

from tidings.api.schema_annotations import FILE_FORM
from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http import forms
from tidings.http.endpoints import Conditional, Media, Routes
from tidings.http.requests import Request
from tidings.services import Services

routes = Routes("OPML")


class ImportedOut(Struct, frozen=True):
    """message: the number of feeds added, and a line for each line of the document that was not used as written."""

    message: str


@routes.get("/v1/export", conditional=Conditional.EXACT, responses={200: Media("text/xml")})
def export_feeds(caller: User, services: Services) -> Response:
    """Export all feeds as an OPML document, in the tree of categories, with settings that differ from a new feed's."""
    return Response(services.feeds.opml.export(caller.id), media_type="text/xml; charset=utf-8")


@routes.post(
    "/v1/import",
    scope=KeyScope.MANAGE,
    status=201,
    raises=(InvalidInput,),
    request_bodies=(Media("application/xml"), Media("text/plain"), FILE_FORM),
)
def import_feeds(caller: User, services: Services, request: Request) -> ImportedOut:
    """Subscribe to the feeds of an OPML document, or of a plain list of addresses.

    It is the body itself, or the field `file` of a form. A list has one address on each line; blank lines and what
    follows a # at the beginning of a line or after a blank are skipped. Its feeds go to the user's first category.
    All usable feeds are added, or none if the request fails. No feed is fetched before the response.
    """
    return ImportedOut(services.feeds.opml.import_(caller.id, document(request)).message)


def document(request: Request) -> bytes:
    """Return the OPML document: the body, or the file `file` of a form."""
    if forms.kind_of(request) != forms.MULTIPART:
        return request.content
    content = forms.file(request, "file")
    if content is None:
        raise InvalidInput(verbatim("file: this form has no such field; send the OPML document in it."), field="file")
    return content
