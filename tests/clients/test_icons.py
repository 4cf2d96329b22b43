"""Icons, as apps fetch them: one request for each, and the picture in the answer."""

from __future__ import annotations

import base64

import pytest

from clients.apps import App, fetch
from clients.contract import FEED, ICON
from clients.library import numbered, picture, subscribe
from clients.shapes import misfits
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

APPS = {
    "Flux News": App(),
    "Capy Reader": App(),
    "ReactFlux": App(origin="https://reactflux.example"),
    "nextflux": App(origin="https://nextflux.example"),
}


@pytest.mark.parametrize("app", APPS.values(), ids=APPS.keys())
def test_an_app_shows_the_icon_of_a_feed(alice: Person, site: Publisher, app: App) -> None:
    site.serve("/favicon.ico", picture(), headers={"Content-Type": "image/png"})
    subscribe(alice, site, numbered(1), "With a face")

    (feed,) = fetch(app, alice, "/v1/feeds")
    assert misfits(feed, FEED) == []
    icon = fetch(app, alice, f"/v1/icons/{feed['icon']['icon_id']}")

    assert misfits(icon, ICON) == []
    # Apps put "data:" before it, or cut it at the comma: there is no such prefix yet, and one comma.
    kind, data = icon["data"].split(",")
    assert kind == f"{icon['mime_type']};base64"
    assert base64.b64decode(data, validate=True).startswith(b"\x89PNG")
    assert fetch(app, alice, f"/v1/feeds/{feed['id']}/icon") == icon
