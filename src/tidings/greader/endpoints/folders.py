"""Endpoints for folders, which are categories."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from tidings.domain.accounts.users import User
from tidings.domain.errors import InvalidInput
from tidings.domain.messages import verbatim
from tidings.greader import streams
from tidings.greader.streams import LABEL, STARRED
from tidings.http.binding import QueryOrForm
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.storage.feeds import categories

routes = Routes("Folders")


class Tag(Struct, frozen=True):
    """type: folder for a category, none for a state. unread_count: of a folder."""

    id: str
    type: str | UnsetType = UNSET
    unread_count: int | UnsetType = UNSET


class Tags(Struct, frozen=True):
    tags: list[Tag]


class Rename(QueryOrForm, frozen=True):
    """s: the folder. dest: its new name, as a label. t: the folder in requests of older clients."""

    s: str = ""
    t: str = ""
    dest: str = ""


class Disable(QueryOrForm, frozen=True):
    s: tuple[str, ...] = ()
    t: tuple[str, ...] = ()


@routes.get("/reader/api/0/tag/list")
def list_tags(caller: User, services: Services) -> Tags:
    """List the starred state, and a folder for each category."""
    with services.reading() as db:
        folders = categories.list_all(db, caller.id)
        counts = categories.counts(db, caller.id)
    unread = {folder_id: count.total_unread for folder_id, count in counts.items()}
    return Tags([
        Tag(STARRED),
        *(Tag(LABEL + folder.title, "folder", unread.get(folder.id, 0)) for folder in folders),
    ])  # fmt: skip


@routes.post("/reader/api/0/rename-tag")
def rename_tag(caller: User, services: Services, query: Rename) -> str:
    """Rename a folder."""
    name, new_name = (streams.label_name(text) for text in (query.s or query.t, query.dest))
    with services.reading() as db:
        folder = streams.folder(db, caller.id, name)
    services.categories.update(caller.id, folder.id, title=new_name)
    return "OK"


@routes.post("/reader/api/0/disable-tag")
def disable_tag(caller: User, services: Services, query: Disable) -> str:
    """Remove folders; their feeds move to the first of the others."""
    names = [streams.label_name(text) for text in (*query.s, *query.t)]
    if not names:
        raise InvalidInput(verbatim("s: send a label."), field="s")
    with services.reading() as db:
        folders = [streams.folder(db, caller.id, name) for name in names]
    for folder_id in {folder.id for folder in folders}:
        services.categories.dissolve(caller.id, folder_id)
    return "OK"
