"""Editing, saving and removing entries."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.people import Person, call, rss
from support.publisher import Publisher
from tidings.deliveries.store import outbox as stored
from tidings.deliveries.store.integrations import lock_all, save
from tidings.deliveries.tables import deliveries
from tidings.storage.schema import feeds

HOOK = "https://hook.example/in?a=1"


def an_entry(person: Person, site: Publisher) -> dict[str, Any]:
    person.has_feed(site)
    return person.entries()[0]


def change(person: Person, entry: dict[str, Any], **fields: Any) -> Any:
    return person.put(f"/v1/entries/{entry['id']}", fields, status=201)


# One entry, by its category


def test_an_entry_is_found_in_its_category(alice: Person, site: Publisher) -> None:
    category = alice.has_category()
    feed = alice.has_feed(site, category_id=category["id"])
    entry = alice.entries()[0]

    assert alice.get(f"/v1/categories/{category['id']}/entries/{entry['id']}") == entry

    other = alice.has_category()
    assert alice.call("GET", f"/v1/categories/{other['id']}/entries/{entry['id']}").status == 404
    alice.put(f"/v1/feeds/{feed['id']}", {"category_id": other["id"]}, status=201)
    assert alice.get(f"/v1/categories/{other['id']}/entries/{entry['id']}")["id"] == entry["id"]
    assert alice.call("GET", f"/v1/categories/{category['id']}/entries/{entry['id']}").status == 404


def test_an_entry_of_an_unknown_or_foreign_category_is_404(alice: Person, bob: Person, site: Publisher) -> None:
    category = alice.has_category()
    alice.has_feed(site, category_id=category["id"])
    entry = alice.entries()[0]

    assert alice.call("GET", f"/v1/categories/2147483000/entries/{entry['id']}").status == 404
    assert alice.call("GET", f"/v1/categories/{category['id']}/entries/2147483000").status == 404
    assert bob.call("GET", f"/v1/categories/{category['id']}/entries/{entry['id']}").status == 404
    assert alice.call("GET", f"/v1/categories/0/entries/{entry['id']}").status == 400
    assert alice.call("GET", f"/v1/categories/{category['id']}/entries/x").status == 400


# Other words


def test_a_change_returns_201_with_the_whole_entry(alice: Person, site: Publisher) -> None:
    entry = an_entry(alice, site)

    changed = change(alice, entry, title="Mine <b>&amp;</b>", content="<p>New</p>")

    assert changed == {**entry, "title": "Mine <b>&amp;</b>", "content": "<p>New</p>"}
    assert alice.get(f"/v1/entries/{entry['id']}") == changed


@pytest.mark.parametrize("body", [{}, {"title": None, "content": None}, {"status": "read", "url": "x", "id": 1}])
def test_absent_fields_stay_and_unknown_fields_are_ignored(alice: Person, site: Publisher, body: object) -> None:
    entry = an_entry(alice, site)

    assert alice.put(f"/v1/entries/{entry['id']}", body, status=201) == entry


def test_content_is_cleaned_against_the_url_of_the_entry(alice: Person, site: Publisher) -> None:
    entry = an_entry(alice, site)

    changed = change(alice, entry, content='<p onclick="x()">a<script>alert(1)</script><img src="pic.png"></p>')

    assert "script" not in changed["content"]
    assert "onclick" not in changed["content"]
    assert f'src="{entry["url"].rpartition("/")[0]}/pic.png"' in changed["content"]


def test_search_finds_the_new_words_and_not_the_old_ones(alice: Person, site: Publisher) -> None:
    entry = an_entry(alice, site)
    assert alice.get("/v1/entries", search=entry["title"])["total"] == 1

    change(alice, entry, title="Marmalade", content="<p>Spread thickly</p>")

    for word, total in (("marmalade", 1), ("thickly", 1), (entry["title"], 0)):
        assert alice.get("/v1/entries", search=word)["total"] == total


def test_content_may_be_empty_after_cleaning(alice: Person, site: Publisher) -> None:
    entry = an_entry(alice, site)

    assert change(alice, entry, content="<script>alert(1)</script>")["content"] == ""
    assert change(alice, entry, content=" ")["content"].strip() == ""


def test_a_new_content_has_a_new_reading_time(alice: Person, site: Publisher) -> None:
    entry = an_entry(alice, site)

    assert change(alice, entry, content="word " * 600)["reading_time"] == 3
    alice.put(f"/v1/users/{alice.id}", {"default_reading_speed": 100}, status=201)
    assert change(alice, entry, content="more " * 600)["reading_time"] == 6
    alice.put(f"/v1/users/{alice.id}", {"show_reading_time": False}, status=201)
    assert change(alice, entry, content="word")["reading_time"] == 0
    alice.put(f"/v1/users/{alice.id}", {"show_reading_time": True}, status=201)
    assert alice.get(f"/v1/entries/{entry['id']}")["reading_time"] == 1


def test_links_open_in_a_new_tab_if_the_user_wants_that(alice: Person, site: Publisher) -> None:
    entry = an_entry(alice, site)
    link = '<a href="https://example.org/">x</a>'

    assert 'target="_blank"' in change(alice, entry, content=link)["content"]
    alice.put(f"/v1/users/{alice.id}", {"open_external_links_in_new_tab": False}, status=201)
    assert "target" not in change(alice, entry, content=link)["content"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", ""),
        ("title", "  "),
        ("title", 5),
        ("title", "a\u0000"),
        ("title", "x" * 100_001),
        ("content", ""),
        ("content", ["x"]),
        ("content", "\u0000"),
    ],
)
def test_an_invalid_change_is_400_and_names_the_field(
    alice: Person, site: Publisher, field: str, value: object
) -> None:
    entry = an_entry(alice, site)

    answer = alice.call("PUT", f"/v1/entries/{entry['id']}", {"title": "t", "content": "c", field: value})

    assert answer.status == 400
    assert field in answer.error
    assert alice.get(f"/v1/entries/{entry['id']}") == entry


def test_a_very_long_title_is_fine(alice: Person, site: Publisher) -> None:
    title = "".join(map(chr, range(0x4E00, 0x4E00 + 20_000)))

    assert change(alice, an_entry(alice, site), title=title)["title"] == title


def test_an_unpaired_surrogate_in_an_import_becomes_a_replacement_character(alice: Person, site: Publisher) -> None:
    entry = an_entry(alice, site)

    answer = alice.call("PUT", f"/v1/entries/{entry['id']}", raw=b'{"title": "\\udc00", "content": "b\\ud83d"}')

    assert (answer.status, answer.json()["title"], answer.json()["content"]) == (201, "\ufffd", "b\ufffd")


def test_an_unknown_or_foreign_entry_cannot_be_changed(
    alice: Person, bob: Person, charlie: Person, site: Publisher
) -> None:
    entry = an_entry(alice, site)

    for stranger, entry_id in ((alice, 2147483000), (bob, entry["id"]), (charlie, entry["id"])):
        assert stranger.call("PUT", f"/v1/entries/{entry_id}", {"title": "x"}).status == 404
        # The body is read first, judged last.
        assert stranger.call("PUT", f"/v1/entries/{entry_id}", raw=b"{broken").status == 400
        assert stranger.call("PUT", f"/v1/entries/{entry_id}", {"title": ""}).status == 404
    assert alice.call("PUT", "/v1/entries/0", {}).status == 400
    assert alice.get(f"/v1/entries/{entry['id']}") == entry


@pytest.mark.parametrize(
    ("edit", "kept"),
    [
        ({"title": "Mine"}, {"title": "Mine", "content": "About One, again."}),
        ({"content": "Mine"}, {"title": "One!", "content": "Mine"}),
        ({"title": "Mine", "content": "Mine"}, {"title": "Mine", "content": "Mine"}),
        ({}, {"title": "One!", "content": "About One, again."}),
    ],
)
def test_edits_of_the_user_stay_when_the_publisher_changes_the_entry(
    alice: Person, site: Publisher, edit: dict[str, str], kept: dict[str, str]
) -> None:
    feed = alice.has_feed(site, ["One"])
    change(alice, alice.entries()[0], **edit)

    document = rss(["One"], feed["feed_url"]).replace("<title>One<", "<title>One!<")
    site.serve(feed["feed_url"].removeprefix(site.url("")), document.replace("About One.", "About One, again."))
    alice.put(f"/v1/feeds/{feed['id']}/refresh")

    found = alice.entries()
    assert [{name: entry[name] for name in kept} for entry in found] == [kept]


@pytest.mark.parametrize(
    ("edit", "kept"),
    [
        ((), {"title": "Sun", "content": "<p>Sun again.</p>"}),
        ((("title", "Mine"),), {"title": "Mine", "content": "<p>Sun again.</p>"}),
        ((("content", "Mine"),), {"title": "Sun", "content": "Mine"}),
        # As the publisher wrote it, which is cleaned to what is stored.
        ((("content", "<p onclick='x()'>Rain &amp; wind.</p>"),), {"title": "Sun", "content": "<p>Sun again.</p>"}),
    ],
)
def test_values_that_are_sent_back_as_they_were_still_follow_the_publisher(
    alice: Person, site: Publisher, edit: tuple[tuple[str, str], ...], kept: dict[str, str]
) -> None:
    feed = alice.has_feed(site, ["Rain & wind"])
    path = feed["feed_url"].removeprefix(site.url(""))
    document = rss(["Rain"], feed["feed_url"])
    before = "&lt;p&gt;Rain &amp;amp; wind.&lt;/p&gt;"
    site.serve(path, document.replace("About Rain.", before))
    alice.put(f"/v1/feeds/{feed['id']}/refresh")
    entry = next(entry for entry in alice.entries() if entry["title"] == "Rain")
    assert entry["content"] == "<p>Rain &amp; wind.</p>"

    sent = {"title": entry["title"], "content": entry["content"], **dict(edit)}
    answer = change(alice, entry, **sent)

    assert (answer["title"], answer["changed_at"]) == (sent["title"], entry["changed_at"])
    document = document.replace("<title>Rain<", "<title>Sun<")
    site.serve(path, document.replace("About Rain.", "&lt;p&gt;Sun again.&lt;/p&gt;"))
    alice.put(f"/v1/feeds/{feed['id']}/refresh")
    found = alice.get(f"/v1/entries/{entry['id']}")
    assert {name: found[name] for name in kept} == kept


# Saving


def switch_on(person: Person, settings: dict[str, str], name: str = "webhook", *, enabled: bool = True) -> None:
    services = person.service.services
    with services.database.writing() as db:
        lock_all(db, person.id)
        save(db, person.id, name, enabled=enabled, settings=json.dumps(settings), now=services.clock())


def outbox(person: Person) -> list[dict[str, Any]]:
    with person.service.services.reading() as db:
        rows = db.rows(deliveries.select().where(deliveries.c.user_id == person.id).order_by(deliveries.c.id))
        return [{**row, "body": stored.body(db, person.id, row["id"])} for row in rows]


def has_integrations(person: Person) -> bool:
    answered = person.get("/v1/integrations/status")
    assert set(answered) == {"has_integrations"}
    return bool(answered["has_integrations"])


def test_saving_without_a_service_is_400_even_for_an_unknown_entry(alice: Person, site: Publisher) -> None:
    entry = an_entry(alice, site)

    assert alice.call("POST", f"/v1/entries/{entry['id']}/save").status == 400
    assert alice.call("POST", "/v1/entries/2147483000/save").status == 400
    switch_on(alice, {"url": HOOK}, enabled=False)
    assert alice.call("POST", f"/v1/entries/{entry['id']}/save").status == 400
    assert outbox(alice) == []


def test_saving_puts_a_delivery_into_the_outbox(alice: Person, site: Publisher) -> None:
    entry = an_entry(alice, site)
    switch_on(alice, {"url": HOOK, "secret": "s"})

    answer = alice.call("POST", f"/v1/entries/{entry['id']}/save", raw=b'""')

    assert (answer.status, answer.body, answer.headers["content-length"]) == (202, b"", "0")
    assert answer.headers["content-type"] == "application/json"
    (row,) = outbox(alice)
    assert (row["integration"], row["event_type"], row["receiver"]) == ("webhook", "save_entry", HOOK)
    assert (row["state"], row["attempts"], row["feed_id"]) == ("pending", 0, entry["feed_id"])
    assert row["size"] == len(row["body"])


def test_a_delivery_has_the_entry_and_a_reduced_feed(alice: Person, site: Publisher) -> None:
    alice.put(f"/v1/users/{alice.id}", {"timezone": "Asia/Tokyo"}, status=201)
    feed = alice.has_feed(site, username="u", password="p", cookie="c")
    imported = {"url": "https://example.org/é", "tags": ["A", "b"], "content": "<p>x</p>", "starred": True}
    entry_id = alice.post(f"/v1/feeds/{feed['id']}/entries/import", imported)["id"]
    alice.service.services.entries.labels.change(alice.id, [entry_id], add=["Work", "later, perhaps"])
    switch_on(alice, {"url": HOOK})

    alice.post(f"/v1/entries/{entry_id}/save", status=202)

    event = json.loads(outbox(alice)[0]["body"])
    entry = alice.get(f"/v1/entries/{entry_id}")
    del entry["language"], entry["hidden"]
    entry["labels"] = ["later, perhaps", "Work"]
    fields = ("id", "user_id", "feed_url", "site_url", "title", "checked_at")
    reduced = {name: entry["feed"][name] for name in fields}
    category = entry["feed"]["category"]
    reduced |= {"category_id": category["id"], "category": {"id": category["id"], "title": category["title"]}}
    assert event == {"event_type": "save_entry", "entry": {**entry, "feed": reduced}}
    assert event["entry"]["published_at"].endswith("+09:00")


def test_an_entry_with_enclosures_is_delivered_with_them(alice: Person, site: Publisher) -> None:
    item = '<item><title>x</title><guid>1</guid><enclosure url="https://example.org/a.mp3" type="audio/mpeg"/></item>'
    site.serve("/pod.xml", f'<rss version="2.0"><channel><title>t</title>{item}</channel></rss>')
    alice.post("/v1/feeds", {"feed_url": site.url("/pod.xml")})
    switch_on(alice, {"url": HOOK})
    entry = alice.entries()[0]

    alice.post(f"/v1/entries/{entry['id']}/save", status=202)

    assert json.loads(outbox(alice)[0]["body"])["entry"]["enclosures"] == entry["enclosures"] != []


def test_each_save_is_a_delivery_with_its_own_id(alice: Person, site: Publisher) -> None:
    entry = an_entry(alice, site)
    switch_on(alice, {"url": HOOK})

    for _ in range(2):
        alice.post(f"/v1/entries/{entry['id']}/save", status=202)

    first, second = outbox(alice)
    assert first["body"] == second["body"]
    assert first["delivery_id"] != second["delivery_id"]


def test_a_webhook_without_a_url_counts_as_an_integration_and_sends_nothing(alice: Person, site: Publisher) -> None:
    entry = an_entry(alice, site)
    switch_on(alice, {})

    alice.post(f"/v1/entries/{entry['id']}/save", status=202)

    assert has_integrations(alice)
    assert outbox(alice) == []


def test_the_webhook_of_a_feed_replaces_its_user_s(alice: Person, site: Publisher) -> None:
    entry = an_entry(alice, site)
    switch_on(alice, {"url": HOOK})
    with alice.service.services.database.writing() as db:
        own = feeds.update().where(feeds.c.id == entry["feed_id"]).values(webhook_url="https://own.example/")
        db.run(own)

    alice.post(f"/v1/entries/{entry['id']}/save", status=202)

    assert [row["receiver"] for row in outbox(alice)] == ["https://own.example/"]


def test_saving_an_unknown_or_foreign_entry_is_404(
    alice: Person, bob: Person, charlie: Person, site: Publisher
) -> None:
    entry = an_entry(alice, site)

    for stranger in (alice, bob, charlie):
        switch_on(stranger, {"url": HOOK})
    for stranger, entry_id in ((alice, 2147483000), (bob, entry["id"]), (charlie, entry["id"])):
        assert stranger.call("POST", f"/v1/entries/{entry_id}/save").status == 404
        assert outbox(stranger) == []
    assert alice.call("POST", "/v1/entries/x/save").status == 400


def test_integrations_count_when_entries_can_be_saved_to_them(alice: Person, bob: Person) -> None:
    assert not has_integrations(alice)
    switch_on(alice, {}, "googlereader")
    assert not has_integrations(alice)
    switch_on(alice, {"url": HOOK})
    assert has_integrations(alice)
    switch_on(bob, {"url": HOOK}, enabled=False)
    assert not has_integrations(bob)


def test_the_status_of_integrations_is_served_without_the_prefix_too(alice: Person) -> None:
    answer = alice.call("GET", "/integrations/status")

    assert (answer.status, answer.json()) == (200, {"has_integrations": False})
    assert answer.headers["access-control-allow-origin"] == "*"
    assert call(alice.service.url, "GET", "/integrations/status").status == 401
    assert alice.call("PUT", "/integrations/status").status == 405


def test_a_change_takes_a_hundred_thousand_ids_at_most(alice: Person) -> None:
    ids = list(range(1, 100_001))

    assert alice.call("PUT", "/v1/entries", {"entry_ids": ids, "status": "read"}).status == 204
    answer = alice.call("PUT", "/v1/entries", {"entry_ids": [*ids, 1], "status": "read"})
    assert (answer.status, "100,000" in answer.error) == (400, True)
