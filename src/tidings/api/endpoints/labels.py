"""Endpoints for labels, the names that users give to entries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from tidings.api.schema_annotations import Required, one_of
from tidings.api.struct_copy import StructCopy
from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.domain.entries.labels import COLORS, LabelCounts
from tidings.engine.database import Read
from tidings.http.binding import LazyBody, Query
from tidings.http.endpoints import Routes
from tidings.http.json_body import Int64
from tidings.services import Services
from tidings.services.entries.labels import owned_label, unknown_label
from tidings.storage.entries import labels

routes = Routes("Labels")

Color = Annotated[str, one_of(("", *COLORS))]


class LabelOut(Struct, frozen=True):
    """color: empty for none. position: place in the order of your labels, counted from 1."""

    id: int
    user_id: int
    title: str
    color: Color
    position: int


class CountedLabelOut(LabelOut, frozen=True):
    """entry_count, total_unread: only with counts=true; removed entries are not counted."""

    entry_count: int | UnsetType = UNSET
    total_unread: int | UnsetType = UNSET


class UsedLabelOut(LabelOut, frozen=True):
    """used_by: your views and rules whose queries name the label, and rules that give it, such as "the view Later"."""

    used_by: list[str]


class LabelsQuery(Query, frozen=True):
    """counts: true adds the number of entries and of unread entries to each label."""

    counts: bool | None = None


class LabelCreate(Struct, frozen=True):
    """title: at most 200 characters. color: default none."""

    title: Required[str] = None
    color: Color | None = None


class LabelUpdate(Struct, frozen=True):
    """color: empty for none. position: the new place, counted from 1; beyond the end means last."""

    title: str | None = None
    color: Color | None = None
    position: Int64 | None = None


_copy = StructCopy(LabelOut, "title", "position")
_copy_counted = StructCopy(CountedLabelOut, "entry_count", "total_unread")
_copy_used = StructCopy(UsedLabelOut, "used_by")


@routes.get("/v1/labels", lists=CountedLabelOut)
def list_labels(caller: User, services: Services, query: LabelsQuery) -> list[CountedLabelOut]:
    """List all labels in their order: yours, then by title."""
    with services.reading() as db:
        shown = listed(db, caller.id)
        if not query.counts:
            return [_copy_counted(label, entry_count=UNSET, total_unread=UNSET) for label in shown]
        counts = labels.counts(db, caller.id, [label.id for label in shown])
    return [_counted(label, counts.get(label.id, LabelCounts())) for label in shown]


@routes.post("/v1/labels", scope=KeyScope.WRITE, status=201, raises=(InvalidInput,))
def create_label(caller: User, services: Services, body: LabelCreate) -> LabelOut:
    """Create a label. Its title, in any case, is unique among your labels and categories."""
    if not body.title:
        raise InvalidInput(verbatim("title: a label needs one."), field="title")
    with _naming_title():
        created = services.entries.labels.create(caller.id, body.title, body.color or "")
    return _shown(caller, services, created.id)


@routes.get("/v1/labels/{label_id}", raises=(InvalidInput, NotFound))
def get_label(caller: User, services: Services, label_id: int) -> UsedLabelOut:
    """Get a label, with what uses it."""
    shown = _shown(caller, services, label_id)
    with services.reading() as db:
        uses = services.entries.labels.uses(db, owned_label(db, caller.id, label_id))
    return _copy_used(shown, used_by=[use.english() for use in uses])


@routes.put("/v1/labels/{label_id}", scope=KeyScope.WRITE, status=201, raises=(InvalidInput, NotFound))
def update_label(caller: User, services: Services, label_id: int, body: LazyBody[LabelUpdate]) -> LabelOut:
    """Change the title, the color or the position of a label. Members that are not sent keep their values."""
    with services.reading() as db:
        owned_label(db, caller.id, label_id)
    change = body.read()
    with _naming_title():
        services.entries.labels.update(
            caller.id, label_id, name=change.title, color=change.color, position=change.position
        )
    return _shown(caller, services, label_id)


@routes.delete("/v1/labels/{label_id}", scope=KeyScope.WRITE, status=204, raises=(InvalidInput, NotFound))
def delete_label(caller: User, services: Services, label_id: int) -> None:
    """Delete a label. Its entries are kept, without it, and so is what uses it."""
    services.entries.labels.delete(caller.id, label_id)


def listed(db: Read, user_id: int) -> list[LabelOut]:
    """Return the labels of a user in their order."""
    in_order = enumerate(labels.list_all(db, user_id), 1)
    return [_copy(label, title=label.name, position=place) for place, label in in_order]


def _shown(caller: User, services: Services, label_id: int) -> LabelOut:
    """Return a label with its place among the others. Raises NotFound."""
    with services.reading() as db:
        found = next((label for label in listed(db, caller.id) if label.id == label_id), None)
    if found is None:
        raise unknown_label(label_id)
    return found


def _counted(label: LabelOut, counts: LabelCounts) -> CountedLabelOut:
    return _copy_counted(label, entry_count=counts.entries, total_unread=counts.unread)


@contextmanager
def _naming_title() -> Iterator[None]:
    """Let errors of the name, as pages call it, name the member of the API."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(error.text, field="title" if error.field == "name" else error.field) from error
