"""The queue: audio and video to play one after the other."""

from __future__ import annotations

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.url_schemes import WEB_SCHEMES, safe_href, scheme_of
from tidings.domain.accounts.users import User
from tidings.http.binding import Form, Query, parse_id
from tidings.http.endpoints import Routes
from tidings.media.policy import MediaKind
from tidings.media.queue import MediaQueue
from tidings.media.services import MediaServices
from tidings.media.store import QueuedMedia
from tidings.web import security
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _
from tidings.web.message_translation import translated

routes = Routes()


class QueueQuery(Query, frozen=True):
    """after: the id of an enclosure that has ended: if the queue is empty, the page offers the next of its feed."""

    after: str = ""


class QueueForm(Form, frozen=True):
    """The form that changes the queue: one field for each action, with the id of an enclosure."""

    next: str = ""
    add: str = ""
    remove: str = ""
    up: str = ""
    down: str = ""
    back: str = ""
    """The page to return to."""


class QueueRow(Struct, frozen=True):
    """An enclosure in the list of the podcast queue."""

    queued: QueuedMedia
    kind: str
    """audio or video."""
    media: str
    """The URL from which the page plays it; empty if its feed has no players."""


@routes.get("/queue")
def show_queue(context: RequestContext, caller: User, media: MediaServices, query: QueueQuery) -> PageResponse:
    rows = [_row(context, one) for one in media.queue.list_all(caller.id)]
    offered = None
    if query.after and not rows:
        offered = media.queue.next_of_feed(caller.id, parse_id("enclosure_id", query.after))
    return PageResponse(
        "media/queue.html",
        {"title": _("Queue"), "rows": rows, "offered": _row(context, offered) if offered else None},
    )


@routes.post("/queue")
def change_queue(caller: User, media: MediaServices, form: QueueForm) -> Redirect:
    back = security.local_path(form.back) or "/queue"
    enclosure_id = parse_id("enclosure_id", form.next or form.add or form.up or form.down or form.remove)
    try:
        return Redirect(back, _change(media.queue, caller.id, enclosure_id, form))
    except InvalidInput as error:
        return Redirect(back, translated(error.text))


def _change(queue: MediaQueue, user_id: int, enclosure_id: int, form: QueueForm) -> str:
    """Return what to say about the change."""
    if form.next or form.add:
        queue.add(user_id, enclosure_id, is_next=bool(form.next))
        return _("Plays next.") if form.next else _("Added to the queue.")
    if form.up or form.down:
        queue.move(user_id, enclosure_id, -1 if form.up else 1)
    else:
        queue.remove(user_id, enclosure_id)
    return ""


def _row(context: RequestContext, queued: QueuedMedia) -> QueueRow:
    kind, url = MediaKind(queued.mime_type.partition("/")[0]), safe_href(queued.url)
    is_playable = scheme_of(url) in WEB_SCHEMES and not queued.no_media_player
    return QueueRow(queued, kind.value, context.media_address(url, kind) if is_playable else "")
