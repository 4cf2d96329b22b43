"""/docs/api: the OpenAPI document for people."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from support.databases import Databases
from support.people import Person, call
from support.running import environment_for, running
from tidings.api.openapi import operations_of
from tidings.wiring.routes import DOCUMENTED_ROUTES


class PageParser(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.links: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links |= {value or "" for name, value in attrs if name == "href"}


@pytest.mark.slow
def test_the_page_shows_every_operation_without_credentials(alice: Person) -> None:
    answer = call(alice.service.url, "GET", "/docs/api")
    seen = PageParser(answer.body.decode())

    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert set(operations_of(DOCUMENTED_ROUTES)) <= set(seen.ids)
    assert len(seen.ids) == len(set(seen.ids))


def test_the_page_loads_nothing_and_its_links_have_targets(alice: Person) -> None:
    answer = call(alice.service.url, "GET", "/docs/api")
    seen = PageParser(answer.body.decode())

    assert not seen.tags & {"script", "link", "img", "iframe"}
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert {link for link in seen.links if not link.startswith("#")} == {"/v1/openapi.json"}
    assert {link.removeprefix("#") for link in seen.links if link.startswith("#")} <= set(seen.ids)


def test_the_page_can_only_be_read(alice: Person) -> None:
    answer = call(alice.service.url, "HEAD", "/docs/api")

    assert (answer.status, answer.body) == (200, b"")
    assert int(answer.headers["content-length"]) > 50_000
    assert call(alice.service.url, "POST", "/docs/api").status == 405


@pytest.mark.slow
def test_page_and_document_are_below_the_base_path(databases: Databases, tmp_path: Path) -> None:
    with databases.migrated() as url:
        environment = environment_for(url, tmp_path, base_url="http://localhost/reader")
        with running("web", environment, tmp_path) as service:
            service.url += "/reader"
            service.wait_until_ready()
            page = call(service.url, "GET", "/reader/docs/api")
            document = call(service.url, "GET", "/reader/v1/openapi.json")

    assert "/reader/v1/openapi.json" in PageParser(page.body.decode()).links
    assert document.json()["servers"] == [{"url": "/reader"}]
