"""Endpoints for folders, which are categories, and for labels of entries."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.domain.accounts.users import User
from tidings.domain.entries.labels import Label, LabelCounts
from tidings.greader import streams
from tidings.greader.streams import LABEL, STARRED
from tidings.http.binding import QueryOrForm
from tidings.http.endpoints import Conditional, Routes
from tidings.services import Services
from tidings.storage.entries import labels
from tidings.storage.feeds import categories

routes = Routes("Folders and labels")

# Each has a transaction of its own, which waits for all feeds of the user.
MAX_REMOVED = 100


class Tag(Struct, frozen=True):
    """type: folder for a category, tag for a label, none for a state. unread_count: of a label.

    Folders have no `unread_count`: google-reader, a library, fails at it. `unread-count` has their counts.
    """

    id: str
    type: str | UnsetType = UNSET
    unread_count: int | UnsetType = UNSET


class Tags(Struct, frozen=True):
    tags: list[Tag]


class Rename(QueryOrForm, frozen=True):
    """s: the folder or label. dest: its new name, as a label. t: the folder in requests of older clients."""

    s: str = ""
    t: str = ""
    dest: str = ""


class Disable(QueryOrForm, frozen=True):
    s: tuple[str, ...] = ()
    t: tuple[str, ...] = ()


@routes.get("/reader/api/0/tag/list", conditional=Conditional.EXACT)
def list_tags(caller: User, services: Services) -> Tags:
    """List the starred state, a folder for each category, the labels, and the saved views that apps see."""
    counted = services.entries.view_counter.count(caller, in_apps=True).views
    with services.reading() as db:
        folders = categories.list_all(db, caller.id)
        own = streams.visible_labels(db, caller.id)
        views = streams.visible_views(db, caller.id, [view for view, _ in counted])
        of_labels = labels.counts(db, caller.id, [label.id for label in own])
    return Tags([
        Tag(id=STARRED),
        *(
            Tag(id=LABEL + folder.title, type="folder")
            for folder in folders
        ),
        *(
            Tag(id=LABEL + label.name, type="tag", unread_count=of_labels.get(label.id, LabelCounts()).unread)
            for label in own
        ),
        *(
            Tag(id=LABEL + view.name, type="tag", unread_count=unread.number if unread else 0)
            for view, unread in counted if view in views
        ),
    ])  # fmt: skip


@routes.post("/reader/api/0/rename-tag")
def rename_tag(caller: User, services: Services, query: Rename) -> str:
    """Rename a folder or a label."""
    name, new_name = (streams.label_name(text) for text in (query.s or query.t, query.dest))
    with services.reading() as db:
        found = streams.folder_or_label(db, caller.id, name)
    if isinstance(found, Label):
        services.entries.labels.update(caller.id, found.id, name=new_name)
    else:
        services.feeds.categories.update(caller.id, found.id, title=new_name)
    return "OK"


@routes.post("/reader/api/0/disable-tag")
def disable_tag(caller: User, services: Services, query: Disable) -> str:
    """Remove folders, whose feeds move to the first of the others, and labels, whose entries stay."""
    names = dict.fromkeys(streams.label_name(text) for text in (*query.s, *query.t))
    if not names:
        raise InvalidInput(verbatim("s: send a label."), field="s")
    if len(names) > MAX_REMOVED:
        raise InvalidInput(verbatim(f"s: send {MAX_REMOVED} labels at most in one request."), field="s")
    with services.reading() as db:
        sent = [streams.folder_or_label(db, caller.id, name) for name in names]
    # Keyed by kind and id, since a name may be sent twice.
    for each in {(type(each), each.id): each for each in sent}.values():
        if isinstance(each, Label):
            services.entries.labels.delete(caller.id, each.id)
        else:
            services.feeds.categories.dissolve(caller.id, each.id)
    return "OK"
