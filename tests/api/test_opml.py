"""OPML import and export."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from lxml import etree

from support.people import HttpResponse, Person, call
from support.publisher import Publisher

BOUNDARY = "----0123456789abcdef"


def document(*outlines: str) -> bytes:
    return f"<opml version='2.0'><head/><body>{''.join(outlines)}</body></opml>".encode()


def feed(url: str, **attributes: str) -> str:
    more = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f'<outline xmlUrl="{url}"{more}/>'


def folder(title: str, *inside: str) -> str:
    return f'<outline text="{title}">{"".join(inside)}</outline>'


def send(person: Person, body: bytes, content_type: str = "") -> HttpResponse:
    headers = {"X-Auth-Token": person.token} | ({"Content-Type": content_type} if content_type else {})
    return call(person.service.url, "POST", "/v1/import", body, headers)


def import_outlines(person: Person, *outlines: str) -> str:
    answer = send(person, document(*outlines))
    assert answer.status == 201, answer.body
    message: str = answer.json()["message"]
    return message


def by_url(person: Person) -> dict[str, dict[str, Any]]:
    return {one["feed_url"]: one for one in person.get("/v1/feeds")}


def export(person: Person) -> etree._Element:
    return etree.fromstring(person.call("GET", "/v1/export").body)


# Export


def test_an_export_is_xml_without_attachment_header(alice: Person) -> None:
    answer = alice.call("GET", "/v1/export")

    assert answer.status == 200
    assert answer.headers["content-type"] == "text/xml; charset=utf-8"
    assert "content-disposition" not in answer.headers
    assert answer.body.startswith(b"<?xml")


def test_an_export_without_feeds_has_an_empty_body(alice: Person) -> None:
    alice.has_category("Empty")

    root = export(alice)

    assert root.get("version") == "2.0"
    assert [one.tag for one in root] == ["head", "body"]
    assert len(root[1]) == 0


def test_an_export_lists_categories_with_feeds_by_name_and_only_settings_that_differ(
    alice: Person, site: Publisher
) -> None:
    news, art = alice.has_category("News"), alice.has_category("Art")
    alice.has_category("Empty")
    plain = alice.has_feed(site, category_id=news["id"])
    special = alice.has_feed(
        site, category_id=art["id"], crawler=True, user_agent="X", username="me", password="secret", cookie="a=b"
    )

    folders = export(alice)[1]

    assert [dict(one.attrib) for one in folders] == [{"text": "Art"}, {"text": "News"}]
    assert dict(folders[1][0].attrib) == {
        "title": "A feed",
        "text": "A feed",
        "xmlUrl": plain["feed_url"],
        "htmlUrl": plain["site_url"],
        "type": "rss",
    }
    extra = {name: value for name, value in folders[0][0].items() if "}" in name}
    assert {name.partition("}")[2]: value for name, value in extra.items()} == {"crawler": "true", "userAgent": "X"}
    assert special["feed_url"] == folders[0][0].get("xmlUrl")
    assert b"secret" not in alice.call("GET", "/v1/export").body


def test_an_export_has_only_the_feeds_of_the_user(alice: Person, charlie: Person, site: Publisher) -> None:
    alice.has_feed(site)

    assert len(export(charlie)[1]) == 0


def test_another_user_can_import_an_export(alice: Person, bob: Person, site: Publisher) -> None:
    category = alice.has_category("Tech / Python & <more>")
    alice.has_feed(site, category_id=category["id"], keeplist_rules="a&b", disabled=True)
    alice.has_feed(site)

    assert send(bob, alice.call("GET", "/v1/export").body).status == 201

    assert export(bob)[1:][0][0].get("text") == "All"
    assert [etree.tostring(one) for one in export(bob)[1]] == [etree.tostring(one) for one in export(alice)[1]]


# Import


def test_feeds_are_stored_unfetched_and_due_at_once(alice: Person, site: Publisher) -> None:
    url = site.url("/feed.xml")

    import_outlines(alice, folder("News", feed(url, title="T", text="t", htmlUrl="http://site.example/")))

    stored = by_url(alice)[url]
    assert (stored["title"], stored["site_url"], stored["category"]["title"]) == ("T", "http://site.example/", "News")
    assert stored["checked_at"] == stored["next_check_at"]
    assert stored["icon"] is None
    assert site.requests == []
    assert alice.entries() == []


def test_an_imported_feed_can_be_refreshed_and_keeps_its_title(alice: Person, site: Publisher) -> None:
    imported = alice.has_feed(site)
    alice.delete(f"/v1/feeds/{imported['id']}")

    import_outlines(alice, feed(imported["feed_url"], text="My name for it"))

    stored = by_url(alice)[imported["feed_url"]]
    alice.put(f"/v1/feeds/{stored['id']}/refresh")
    assert len(alice.entries()) == 2
    assert by_url(alice)[imported["feed_url"]]["title"] == "My name for it"


def test_a_plain_list_of_addresses_is_imported_into_the_first_category(alice: Person, site: Publisher) -> None:
    known = alice.has_feed(site)
    alice.delete(f"/v1/feeds/{known['id']}")
    url = known["feed_url"]

    answer = send(alice, f"# Mine\n{url}\n\nnowhere\n{url}\n".encode(), "text/plain")

    assert answer.status == 201
    assert answer.json()["message"].splitlines() == [
        "Feeds imported: 1. Already there: 1. Not usable: 1.",
        "Line 4 (nowhere): give a complete address that begins with http:// or https://.",
    ]
    (stored,) = alice.get("/v1/feeds")
    assert (stored["feed_url"], stored["title"], stored["category"]["title"]) == (url, url, "All")
    alice.put(f"/v1/feeds/{stored['id']}/refresh")
    assert by_url(alice)[url]["title"] == "A feed"


def test_nested_folders_become_a_path(alice: Person) -> None:
    import_outlines(alice, folder("Tech", folder("Python", feed("http://a.example/")), feed("http://b.example/")))

    found = by_url(alice)
    assert found["http://a.example/"]["category"]["title"] == "Tech / Python"
    assert found["http://b.example/"]["category"]["title"] == "Tech"


def test_a_feed_outside_of_folders_goes_to_the_first_category_by_title(alice: Person) -> None:
    alice.has_category("Aardvark")

    import_outlines(alice, feed("http://a.example/"))

    assert by_url(alice)["http://a.example/"]["category"]["title"] == "Aardvark"


def test_a_feed_outside_of_folders_is_400_where_there_is_no_category(alice: Person) -> None:
    alice.delete(f"/v1/categories/{alice.get('/v1/categories')[0]['id']}")

    answer = send(alice, document(folder("New", feed("http://a.example/")), feed("http://b.example/")))

    assert answer.status == 400
    assert alice.get("/v1/feeds") == []
    assert alice.get("/v1/categories") == []


def test_categories_are_compared_without_case(alice: Person) -> None:
    alice.has_category("News")

    import_outlines(alice, folder("NEWS", feed("http://a.example/")), folder("news", feed("http://b.example/")))

    assert [one["title"] for one in alice.get("/v1/categories")] == ["All", "News"]


def test_a_feed_in_several_folders_is_in_several_categories(alice: Person, bob: Person, site: Publisher) -> None:
    message = import_outlines(
        alice,
        folder("Second", folder("Below", feed("http://a.example/"))),
        folder("First", feed("http://a.example/"), feed("http://b.example/")),
        folder("FIRST", feed("http://a.example/")),
    )

    def titles(person: Person) -> list[list[str]]:
        names = {one["id"]: one["title"] for one in person.get("/v1/categories")}
        return [
            [names[id_] for id_ in by_url(person)[url]["category_ids"]]
            for url in ("http://a.example/", "http://b.example/")
        ]

    assert "imported: 2" in message
    assert titles(alice) == [["Second / Below", "First"], ["First"]]
    assert send(bob, alice.call("GET", "/v1/export").body).status == 201
    # Folders are written in their order, and the feed in each says which is its first category.
    assert titles(bob) == [["Second / Below", "First"], ["First"]]


def test_known_feeds_and_repeated_ones_are_skipped(alice: Person, site: Publisher) -> None:
    known = alice.has_feed(site)

    message = import_outlines(
        alice,
        folder("Elsewhere", feed(known["feed_url"], text="Other", crawler="true")),
        folder("First", feed("http://a.example/")),
        folder("First", feed("http://a.example/")),
    )

    assert "imported: 1" in message
    assert "there: 2" in message
    assert alice.get(f"/v1/feeds/{known['id']}") == known
    assert by_url(alice)["http://a.example/"]["category"]["title"] == "First"
    assert "Elsewhere" not in [one["title"] for one in alice.get("/v1/categories")]


def test_importing_twice_answers_201_and_adds_nothing(alice: Person) -> None:
    import_outlines(alice, feed("http://a.example/"))

    assert "imported: 0" in import_outlines(alice, feed("http://a.example/"))
    assert len(alice.get("/v1/feeds")) == 1


def test_subscriptions_of_other_users_do_not_affect_an_import(alice: Person, bob: Person) -> None:
    import_outlines(alice, feed("http://a.example/"))
    import_outlines(bob, feed("http://a.example/"))

    assert [one["user_id"] for one in bob.get("/v1/feeds")] == [bob.id]


def test_an_invalid_outline_is_skipped_and_reported(alice: Person) -> None:
    message = import_outlines(
        alice,
        feed("http://a.example/"),
        f"\n{feed('ftp://b.example/', text='The bad one')}",
        feed("http://c example/"),
        feed(" http://d.example/"),
    )

    assert sorted(by_url(alice)) == ["http://a.example/", "http://d.example/"]
    assert "Not usable: 2" in message
    assert "Line 2 (The bad one)" in message


def test_a_feed_with_children_is_imported_with_them(alice: Person) -> None:
    import_outlines(
        alice, '<outline text="A" xmlUrl="http://a.example/"><outline xmlUrl="http://b.example/"/></outline>'
    )

    assert sorted(by_url(alice)) == ["http://a.example/", "http://b.example/"]


def test_settings_are_applied_and_invalid_ones_ignored(alice: Person) -> None:
    settings = {"crawler": "true", "userAgent": "X", "hideGlobally": "maybe", "blocklistRules": "("}

    message = import_outlines(alice, feed("http://a.example/", **settings))

    stored = by_url(alice)["http://a.example/"]
    assert (stored["crawler"], stored["user_agent"]) == (True, "X")
    assert (stored["hide_globally"], stored["blocklist_rules"]) == (False, "")
    assert "hideGlobally" in message
    assert "blocklistRules" in message


def test_feeds_with_and_without_settings_come_in_one_document(alice: Person) -> None:
    import_outlines(
        alice, feed("http://a.example/"), feed("http://b.example/", crawler="true"), feed("http://u:p@c.example/")
    )

    found = by_url(alice)
    assert [found[f"http://{one}.example/"]["crawler"] for one in "abc"] == [False, True, False]
    assert [found[f"http://{one}.example/"]["username"] for one in "abc"] == ["", "", "u"]


@pytest.mark.parametrize("body", [b"<opml/>", b"<opml><body/></opml>", b"<opml version='1.0'><head/></opml>"])
def test_a_document_without_feeds_is_201(alice: Person, body: bytes) -> None:
    assert send(alice, body).status == 201


@pytest.mark.one_engine
@pytest.mark.parametrize("body", [b"", b"{}", b"<rss/>", b"<opml>", b"<opml><body><outline xmlUrl='http://a.example/'"])
def test_a_body_that_is_not_opml_is_400(alice: Person, body: bytes) -> None:
    answer = send(alice, body)

    assert answer.status == 400
    assert answer.error
    assert alice.get("/v1/feeds") == []


@pytest.mark.parametrize("content_type", ["", "text/xml", "application/x-www-form-urlencoded", "application/json"])
def test_the_body_is_the_document_whatever_its_content_type(alice: Person, content_type: str) -> None:
    assert send(alice, document(feed("http://a.example/")), content_type).status == 201
    assert len(alice.get("/v1/feeds")) == 1


def form(name: str, content: bytes, headers: str = "Content-Type: text/x-opml") -> bytes:
    parts = [
        b'Content-Disposition: form-data; name="other"\r\n\r\nx',
        f'Content-Disposition: form-data; name="{name}"; filename="feeds.opml"\r\n{headers}\r\n\r\n'.encode() + content,
    ]
    delimiter = f"--{BOUNDARY}".encode()
    return b"".join(delimiter + b"\r\n" + part + b"\r\n" for part in parts) + delimiter + b"--\r\n"


@pytest.mark.parametrize("headers", ["Content-Type: text/x-opml", "Content-Type: multipart/mixed; boundary=x"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_a_document_can_be_uploaded_as_a_form_file(alice: Person, headers: str, encoding: str) -> None:
    source = document(feed("http://a.example/", text="Zoë")).decode()
    body = form("file", f'<?xml version="1.0" encoding="{encoding}"?>\n{source}'.encode(encoding), headers)

    assert send(alice, body, f"multipart/form-data; boundary={BOUNDARY}").status == 201
    assert by_url(alice)["http://a.example/"]["title"] == "Zoë"


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (form("document", b"<opml/>"), f"multipart/form-data; boundary={BOUNDARY}"),
        (form("file", b"<opml/>"), "multipart/form-data; boundary=another"),
        (form("file", b"<opml/>"), "multipart/form-data"),
        (form("file", b""), f"multipart/form-data; boundary={BOUNDARY}"),
        (b"", f"multipart/form-data; boundary={BOUNDARY}"),
    ],
)
def test_a_form_without_a_file_is_400(alice: Person, body: bytes, content_type: str) -> None:
    answer = send(alice, body, content_type)

    assert answer.status == 400
    assert answer.error


def part(headers: bytes, content: bytes = b"x") -> bytes:
    return f"--{BOUNDARY}\r\n".encode() + headers + b"\r\n\r\n" + content + b"\r\n"


_FILE = part(b'Content-Disposition: form-data; name="file"; filename="a.opml"', b"<opml/>")


@pytest.mark.one_engine
@pytest.mark.parametrize(
    "bomb",
    [
        part(b'Content-Disposition: form-data; name="a"' + b";" * 50_000),
        part(b'Content-Disposition: form-data; name="a"' + b"\r\nX-A: " + b"a" * 4_000 + b"\r\nX-B: " + b"b" * 4_000),
        part(b'Content-Disposition: form-data; name="a"') * 100,
    ],
    ids=["a parameter of semicolons", "8 kB of headers", "101 parts"],
)
def test_a_form_whose_parsing_would_take_long_is_refused(alice: Person, bomb: bytes) -> None:
    body = bomb + _FILE + f"--{BOUNDARY}--\r\n".encode()

    answer = send(alice, body, f"multipart/form-data; boundary={BOUNDARY}")

    assert answer.status == 400
    assert "form cannot be read" in answer.error
    assert "form cannot be read" in send(alice, body, f"multipart/form-data{';' * 2_000}; boundary={BOUNDARY}").error


def test_a_form_with_a_hundred_parts_is_read(alice: Person) -> None:
    others = part(b'Content-Disposition: form-data; name="a"') * 99
    opml = document(feed("http://a.example/"))
    body = others + _FILE.replace(b"<opml/>", opml) + f"--{BOUNDARY}--\r\n".encode()

    assert send(alice, body, f"multipart/form-data; boundary={BOUNDARY}").status == 201


@pytest.mark.slow
def test_ten_thousand_feeds_can_be_imported_at_once(alice: Person) -> None:
    feeds = [folder(f"Folder {n}", *(feed(f"http://{n}-{m}.example/feed") for m in range(100))) for n in range(100)]

    assert "imported: 10000" in import_outlines(alice, *feeds)
    assert len(alice.get("/v1/categories", counts="true")) == 101


def test_two_concurrent_imports_store_each_feed_once(alice: Person) -> None:
    body = document(*(folder(f"F{n}", feed(f"http://{n}.example/")) for n in range(50)))
    statuses: list[int] = []
    threads = [threading.Thread(target=lambda: statuses.append(send(alice, body).status)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(statuses) <= {201, 400}
    assert 201 in statuses
    assert len(by_url(alice)) == len(alice.get("/v1/feeds")) == 50
