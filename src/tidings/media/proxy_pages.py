"""The media proxy: pictures of articles, fetched for the reader."""

from __future__ import annotations

import asyncio
import hashlib

import structlog
from starlette.responses import Response, StreamingResponse

from tidings.base.errors import InvalidInput
from tidings.content.pictures.scaling import PictureSize
from tidings.http.endpoints import Routes
from tidings.http.requests import Request
from tidings.media.services import MediaServices
from tidings.media.signatures import FOR_ROW, PREFIX, STREAM_PREFIX
from tidings.net.errors import FetchError
from tidings.web.context import PageResponse
from tidings.web.language import _
from tidings.web.message_translation import translated
from tidings.web.security import SANDBOX_HEADERS

log = structlog.get_logger()
routes = Routes()

_HEADERS = {**SANDBOX_HEADERS, "Cross-Origin-Resource-Policy": "same-origin"}
_FOUND = {"Cache-Control": "private, max-age=604800", **_HEADERS}
# The same address is a page when it is opened, so a placeholder must not come from the browser's cache.
_MISSING = {"Cache-Control": "no-store", **_HEADERS}

# Without a size it fills the space that the picture would have; the drawing in its middle stays small.
_PLACEHOLDER = b"""<svg xmlns="http://www.w3.org/2000/svg"><rect width="100%" height="100%" fill="#8882"/>\
<svg x="50%" y="50%" overflow="visible"><g fill="none" stroke="#888" stroke-width="1.5" stroke-linejoin="round">\
<rect x="-16" y="-13" width="32" height="26" rx="3"/><path d="m-16 7 9-9 8 8 5-5 10 9M-20-18 20 18"/></g></svg></svg>"""


@routes.get(f"{PREFIX}{{signature}}/{{encoded_url}}", is_public=True)
async def show_media(
    request: Request, media: MediaServices, signature: str, encoded_url: str
) -> Response | PageResponse:
    """Return the picture at a signed address; a placeholder, or a page with a link, when there is none to show.

    It is public, since shared pages have pictures, too: without a signature of ours nothing is fetched.
    """
    url = await asyncio.to_thread(media.proxy.url, signature, encoded_url)
    try:
        picture = await media.proxy.picture(url, _size(request))
    except (FetchError, InvalidInput) as error:
        log.debug("picture not shown", reason=error.message)
        return _explanation(url, error) if _is_opened(request) else _placeholder()
    etag = f'"{hashlib.sha256(picture.content).hexdigest()[:16]}"'
    headers = {**_FOUND, "ETag": etag}
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(picture.content, 200, headers, picture.mime_type)


@routes.get(f"{STREAM_PREFIX}{{signature}}/{{encoded_url}}", is_public=True)
async def stream_media(request: Request, media: MediaServices, signature: str, encoded_url: str) -> Response:
    """Return the sound or film at a signed address while it arrives."""
    proxy = media.proxy
    url = await asyncio.to_thread(proxy.url, signature, encoded_url)
    try:
        stream = await proxy.stream(url, byte_range=request.headers.get("range", ""))
    except (FetchError, InvalidInput) as error:
        return Response(error.message, 404, _MISSING, "text/plain; charset=utf-8")
    headers = {"Cache-Control": "private, max-age=86400", **_HEADERS, **stream.headers}
    if request.method == "HEAD":
        await stream.aclose()
        return Response(status_code=stream.status, headers=headers)
    return StreamingResponse(stream.chunks, stream.status, headers)


def _size(request: Request) -> PictureSize:
    return PictureSize.ROW if f"?{request.url.query}" == FOR_ROW else PictureSize.ARTICLE


def _is_opened(request: Request) -> bool:
    """Return whether the address is opened as a page, and not as a picture within one."""
    accepted = request.headers.get("accept", "")
    return request.headers.get("sec-fetch-dest", "") == "document" or accepted.startswith("text/html")


def _placeholder() -> Response:
    # Not 502: reverse proxies replace the bodies of such responses.
    return Response(_PLACEHOLDER, 404, _MISSING, "image/svg+xml")


def _explanation(url: str, error: FetchError | InvalidInput) -> PageResponse:
    known = {"title": _("This picture cannot be shown"), "explanation": translated(error.text), "address": url}
    return PageResponse("media/picture_missing.html", known, status=404, headers={"Cache-Control": "no-store"})
