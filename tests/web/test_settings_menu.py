"""Slices put their pages into the list of the settings pages."""

from __future__ import annotations

import pytest

from support.people import Person
from support.visitors import Visitor
from tidings.base.messages import msg
from tidings.web.settings_menu import CORE_ITEMS, MenuItem, settings_menu
from tidings.wiring.routes import PAGE_ROUTES, SETTINGS_MENU


def test_a_page_follows_the_one_that_it_names() -> None:
    paths = [item.path for item in settings_menu([MenuItem("/arrivals", msg("Arrivals"), after="/statistics")])]

    assert paths.index("/arrivals") == paths.index("/statistics") + 1
    assert len(paths) == len(CORE_ITEMS) + 1


def test_a_page_that_names_none_comes_last() -> None:
    assert settings_menu([MenuItem("/arrivals", msg("Arrivals"))])[-1].path == "/arrivals"


def test_a_page_after_an_unknown_one_is_an_error() -> None:
    with pytest.raises(ValueError, match="/nowhere"):
        settings_menu([MenuItem("/arrivals", msg("Arrivals"), after="/nowhere")])


def test_every_page_of_the_list_exists() -> None:
    admin = {route.path: route.admin for route in PAGE_ROUTES if route.method == "GET"}

    pages = [item for item in SETTINGS_MENU if not item.copies]
    assert {item.path: item.is_for_admins for item in pages if admin[item.path] != item.is_for_admins} == {}


@pytest.mark.slow
def test_only_administrators_see_their_pages(reader: Visitor, alice: Person) -> None:
    page = reader.get("/settings").body.decode()

    assert not alice.user.is_admin
    assert "/settings/deliveries" in page
    assert "/instance" not in page
