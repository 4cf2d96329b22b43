"""Endpoints of other modules are placed by their headings."""

from __future__ import annotations

import pytest

from tidings.http.endpoints import Routes, placed


def routes(tag: str, *paths: str, after: str = "") -> Routes:
    declared = Routes(tag, after=after)
    for path in paths:
        declared.get(path)(lambda: None)
    return declared


CORE = [*routes("Users", "/users").all, *routes("Feeds", "/feeds").all, *routes("Feeds", "/feeds/refresh").all]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (routes("Notes", "/notes", after="Users"), ["/users", "/notes", "/feeds", "/feeds/refresh"]),
        (routes("Notes", "/notes", after="Feeds"), ["/users", "/feeds", "/feeds/refresh", "/notes"]),
        (routes("Users", "/users/count", after="Feeds"), ["/users", "/users/count", "/feeds", "/feeds/refresh"]),
        (routes("Notes", "/notes"), ["/users", "/feeds", "/feeds/refresh", "/notes"]),
        (routes("", "/page"), ["/users", "/feeds", "/feeds/refresh", "/page"]),
    ],
)
def test_endpoints_follow_their_heading_or_the_one_named(more: Routes, expected: list[str]) -> None:
    assert [one.path for one in placed(CORE, [more])] == expected


def test_two_modules_with_one_heading_stay_in_their_order() -> None:
    more = [routes("Notes", "/notes", after="Users"), routes("Notes", "/notes/count", after="Users")]

    assert [one.path for one in placed(CORE, more)][:3] == ["/users", "/notes", "/notes/count"]


def test_an_unknown_heading_is_an_error() -> None:
    with pytest.raises(ValueError, match="Nodes"):
        placed(CORE, [routes("Notes", "/notes", after="Nodes")])
