"""Wire structs are filled by field name: the order of their fields only decides the order in JSON."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from msgspec import Struct, defstruct

import tidings.api
from tidings.api.endpoints.feeds import FeedOut
from tidings.api.endpoints.users import UserOut
from tidings.api.entry_lists import EntryOut
from tidings.api.struct_copy import StructCopy

# How the structs that answers are made of are called.
ANSWERS = ("Out", "List", "Ids", "Created", "Details", "Status")
COMPUTED_FIELDS = {
    FeedOut: ("checked_at", "next_check_at", "category", "icon"),
    EntryOut: ("status", "hash", "content", "tags", "enclosures", "feed"),
    UserOut: ("last_login_at",),
}


@pytest.mark.parametrize("shape", COMPUTED_FIELDS)
@pytest.mark.parametrize("place", [0, 7, -1])
def test_a_field_may_be_added_anywhere(shape: type[Struct], place: int) -> None:
    own = COMPUTED_FIELDS[shape]
    names = list(shape.__struct_fields__)
    names.insert(place if place >= 0 else len(names), "added")
    grown = defstruct("Grown", [(name, str) for name in names])
    record = defstruct("Record", [(name, str) for name in reversed(names) if name not in own])
    copy = StructCopy(grown, *reversed(own))

    created = copy(record(*reversed([f"value of {name}" for name in names if name not in own])), **{
        name: f"value of {name}" for name in own
    })  # fmt: skip

    assert msgspec.structs.asdict(created) == {name: f"value of {name}" for name in names}


class Record(Struct):
    id: int


class Out(Struct):
    id: int
    title: str


def test_one_field_is_copied_as_well_as_many() -> None:
    assert StructCopy(Out, "title")(Record(7), title="Rain") == Out(7, "Rain")
    assert StructCopy(Record)(Record(7)) == Record(7)
    assert StructCopy(Out, "id", "title")(Record(7), id=1, title="Sun") == Out(1, "Sun")


@pytest.mark.parametrize("own", [{}, {"title": "Rain", "more": "Sun"}, {"titel": "Rain"}])
def test_a_missing_or_misspelt_computed_field_is_refused(own: dict[str, Any]) -> None:
    copy = StructCopy(Out, "title")
    with pytest.raises(TypeError, match="own fields"):
        copy(Record(7), **own)
    with pytest.raises(TypeError, match="titel"):
        StructCopy(Out, "titel")


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.iter_modules(tidings.api.__path__, "tidings.api."):
        yield importlib.import_module(found.name)


def test_no_wire_struct_of_several_fields_is_filled_by_position() -> None:
    found = []
    for module in modules():
        known = {
            name: value
            for name, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, Struct) and name.endswith(ANSWERS)
        }
        tree = ast.parse(Path(str(module.__file__)).read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in known and node.args:
                fields = known[node.func.id].__struct_fields__
                if len(fields) > 1 or isinstance(node.args[0], ast.Starred):
                    found.append(f"{module.__name__}:{node.lineno} {node.func.id}")
    assert found == []
