"""What makes an app of the pages."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from support.visitors import Visitor


@pytest.mark.slow
def test_the_manifest_names_existing_files(visitor: Visitor) -> None:
    manifest = visitor.get("/manifest.webmanifest").json()

    assert manifest["display"] == "standalone"
    for icon in manifest["icons"]:
        picture = Image.open(io.BytesIO(visitor.get(icon["src"]).body))
        assert f"{picture.width}x{picture.height}" == icon["sizes"]


def test_the_display_mode_is_the_one_of_the_account(reader: Visitor) -> None:
    assert reader.person
    reader.person.put(f"/v1/users/{reader.person.id}", {"display_mode": "minimal-ui"}, status=201)

    assert reader.get("/manifest.webmanifest").json()["display"] == "minimal-ui"


@pytest.mark.parametrize("path", ["/offline", "/worker.js", "/favicon.ico"])
def test_pwa_files_need_no_session(visitor: Visitor, path: str) -> None:
    assert visitor.get(path).status == 200


def test_the_offline_page_has_no_data_of_a_user(reader: Visitor) -> None:
    assert reader.person
    assert reader.person.user.username not in reader.page("/offline")


def test_crawlers_are_asked_to_stay_away(visitor: Visitor) -> None:
    answer = visitor.get("/robots.txt")

    assert (answer.status, answer.body) == (200, b"User-agent: *\nDisallow: /\n")
    assert answer.headers["content-type"].startswith("text/plain")
