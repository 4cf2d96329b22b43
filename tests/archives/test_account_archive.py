"""An account is exported, and imported into another one: everything is equal, and nothing is doubled."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from collections.abc import Collection
from copy import copy
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import text

from support.people import Cast, Person
from support.publisher import Publisher
from support.resource_factory import A_DAY
from tidings.archives import archive_file, records
from tidings.archives.archive_file import ArchiveReader
from tidings.archives.parts import ALL_PARTS, ArchivePart
from tidings.archives.readers.export_files import ExportFiles
from tidings.base.errors import InvalidInput
from tidings.content.model import Chapter
from tidings.domain.entries.entries import chapters_text
from tidings.engine import statements
from tidings.storage.entries import contents, entries, labels
from tidings.storage.schema import enclosures
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow


def _export(services: AllServices, person: Person, *, with_secrets: bool = True) -> bytes:
    file = io.BytesIO()
    user = services.accounts.users.find(person.user.username)
    services.archives.account_export.write(user, file, with_secrets=with_secrets, progress=lambda _done, _total: None)
    return file.getvalue()


def _import(services: AllServices, person: Person, archive: bytes, parts: Collection[ArchivePart] = ALL_PARTS) -> Any:
    user = services.accounts.users.find(person.user.username)
    return services.archives.account_import.store(user, io.BytesIO(archive), lambda _done, _total: None, parts=parts)


def _changed(archive: bytes, name: str, change: Any) -> bytes:
    """Return the archive with another content of one member. change: bytes to bytes."""
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(written, "w") as target:
        for member in source.namelist():
            content = source.read(member)
            target.writestr(member, change(content) if member == name else content)
    return written.getvalue()


def _lines(archive: bytes, name: str) -> list[bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return opened.read(name).splitlines()


def _comparable(archive: bytes) -> dict[str, Any]:
    """Return the records of an archive, with the URL of its feed instead of its number."""
    urls = {}
    found: dict[str, Any] = {}
    for line in _lines(archive, records.FEEDS):
        feed = msgspec.json.decode(line)
        urls[feed.pop("number")] = feed["feed_url"]
        found.setdefault(records.FEEDS, []).append(feed)
    for name in (records.ENTRIES, records.DELETED_ENTRIES):
        found[name] = []
        for line in _lines(archive, name):
            record = msgspec.json.decode(line)
            record["feed"] = urls[record["feed"]]
            found[name].append(record)
        found[name].sort(key=lambda record: (record["feed"], record["hash"]))
    found[records.FEEDS].sort(key=lambda feed: feed["feed_url"])
    for name in (records.CATEGORIES, records.LABELS, records.SETTINGS, records.INTEGRATIONS):
        found[name] = _lines(archive, name)
    return found


@pytest.fixture
def reader(cast: Cast, site: Publisher, services: AllServices) -> Person:
    """A user with everything that an archive holds."""
    alice = cast.person("alice")
    feed_id = alice.has_feed(site, ["Rain", "Snow", "Wind", "Fog"])["id"]
    ids = [entry["id"] for entry in alice.entries()]
    rules = {"crawler": False, "blocklist_rules": "(?i)advert", "username": "me", "password": "x"}
    alice.put(f"/v1/feeds/{feed_id}", rules, status=201)
    alice.put("/v1/entries", {"entry_ids": ids[:2], "status": "read"})
    alice.put(f"/v1/entries/{ids[1]}/bookmark")
    alice.put(f"/v1/entries/{ids[0]}/snooze", {"until": A_DAY}, status=201)
    edited = {"title": "Wind, edited", "content": '<p id="a">New <a href="#a">words</a></p>'}
    alice.put(f"/v1/entries/{ids[2]}", edited, status=201)
    settings = {"theme": "dark_serif", "entries_per_page": 50, "open_external_links_in_new_tab": False}
    alice.put(f"/v1/users/{alice.id}", settings, status=201)
    weather = alice.post("/v1/categories", {"title": "Weather & more", "hide_globally": True})
    alice.post("/v1/categories", {"title": "Of tomorrow", "parent_id": weather["id"], "hide_globally": True})
    news = alice.post("/v1/categories", {"title": "News"})
    alice.put(f"/v1/feeds/{feed_id}", {"category_ids": [news["id"], weather["id"]]}, status=201)
    services.deliveries.integrations.update(
        alice.id,
        {"linkding": {"enabled": True, "url": "https://linkding.example.org", "token": "secret key", "tags": "a"}},
    )
    alice.put("/v1/entries", {"entry_ids": ids[3:], "status": "removed"})
    services.entries.labels.change(alice.id, ids[1:], add=["Work"])
    services.entries.labels.change(alice.id, ids[:1], add=["Home & garden", "Work"])
    empty = services.entries.labels.create(alice.id, "Of no entry", "teal")
    services.entries.labels.update(alice.id, empty.id, position=1)
    services.entries.labels.create(alice.id, "Later than the order")
    with services.database.writing() as db:
        entries.set_hidden(db, alice.id, ids[2:], hidden=True)
        db.run(text("UPDATE entries SET created_at = created_at - 5000000 WHERE user_id = :user"), user=alice.id)
        chapters = chapters_text([Chapter(1.5, "Rain", "https://example.org/")])
        contents.set_of_feed(db, alice.id, ids[1], "", chapters, is_shown=True)
        contents.set_contents(db, alice.id, ids[1], "<p>The whole article.</p>", "<p>The content of the feed.</p>")
        sound = {"url": "https://example.org/1.mp3", "mime_type": "audio/mpeg", "size": 9, "media_progression": 7}
        statements.insert_rows(db, enclosures, [sound | {"user_id": alice.id, "entry_id": ids[1], "queue_position": 1}])
    return alice


def test_an_account_in_another_one_is_equal(reader: Person, bob: Person, services: AllServices) -> None:
    archive = _export(services, reader)

    report = _import(services, bob, archive)

    assert report.problems == []
    assert report.new_feeds == 1
    assert _comparable(_export(services, bob)) == _comparable(archive)
    entry_counts = bob.get("/v1/feeds/counters")
    assert list(entry_counts["unreads"].values()) == list(reader.get("/v1/feeds/counters")["unreads"].values())
    assert list(entry_counts["reads"].values()) == list(reader.get("/v1/feeds/counters")["reads"].values())
    assert bob.get("/v1/entries", search="edited")["total"] == 1
    names = {one["id"]: one["title"] for one in bob.get("/v1/categories")}
    assert [names[id_] for id_ in bob.get("/v1/feeds")[0]["category_ids"]] == ["News", "Weather & more"]
    assert [one.url for one in services.media.queue.list_all(bob.id)] == ["https://example.org/1.mp3"]
    assert [one["until"][:10] for one in bob.get("/v1/entries/snooze")] == [A_DAY]


def test_an_import_repeated_changes_nothing(reader: Person, bob: Person, services: AllServices) -> None:
    archive = _export(services, reader)
    _import(services, bob, archive)
    before = _export(services, bob)

    report = _import(services, bob, archive)

    assert (report.new_feeds, report.known_feeds, report.new_entries) == (0, 1, 0)
    assert _comparable(_export(services, bob)) == _comparable(before)


def test_a_public_link_belongs_to_one_entry(reader: Person, bob: Person, services: AllServices) -> None:
    def share(content: bytes) -> bytes:
        entries = [msgspec.json.decode(line) | {"share_code": "a-code-of-two-entries"} for line in content.splitlines()]
        return b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)

    report = _import(services, bob, _changed(_export(services, reader), records.ENTRIES, share))

    assert report.new_entries > 1
    assert [entry["share_code"] for entry in bob.entries() if entry["share_code"]] == ["a-code-of-two-entries"]


def _names(services: AllServices, person: Person) -> dict[str, list[str]]:
    """Return the labels of entries by title."""
    with services.reading() as db:
        given = labels.of_entries(db, person.id, [entry["id"] for entry in person.entries()])
    return {entry["title"]: [label.name for label in given.get(entry["id"], ())] for entry in person.entries()}


def test_entries_get_labels_of_the_archive_and_lose_none(reader: Person, bob: Person, services: AllServices) -> None:
    archive = _export(services, reader)
    _import(services, bob, archive)
    before = _names(services, bob)
    assert before == _names(services, reader)
    title = next(title for title, names in before.items() if names == ["Home & garden", "Work"])
    labelled = [entry["id"] for entry in bob.entries() if entry["title"] == title]
    services.entries.labels.change(bob.id, labelled, add=["Mine"], remove=["work"])

    _import(services, bob, archive)

    assert _names(services, bob) == before | {title: ["Home & garden", "Work", "Mine"]}
    with services.reading() as db:
        mine = labels.list_all(db, bob.id)
    assert [label.name for label in mine] == ["Of no entry", "Home & garden", "Work", "Later than the order", "Mine"]
    assert [label.color for label in mine] == ["teal", "", "", "", ""]


def test_labels_of_an_account_keep_their_colours_and_their_order(
    reader: Person, bob: Person, services: AllServices
) -> None:
    mine = services.entries.labels.create(bob.id, "of NO entry", "pink")
    services.entries.labels.create(bob.id, "Zebra")

    report = _import(
        services, bob, _changed(_export(services, reader), records.LABELS, lambda lines: lines.replace(b"teal", b"mud"))
    )

    assert report.problems == ["label Of no entry: color 'mud'"]
    with services.reading() as db:
        kept = labels.list_all(db, bob.id)
    assert [label.name for label in kept][:2] == ["of NO entry", "Home & garden"]
    assert kept[0].color == "pink"
    services.entries.labels.update(bob.id, mine.id, position=9)
    _import(services, bob, _export(services, reader))
    assert bob.get("/v1/labels")[-1]["title"] == "of NO entry"


def test_an_import_asks_for_rules_that_would_be_switched_on(reader: Person, bob: Person, services: AllServices) -> None:
    def review(person: Person, archive: bytes) -> Any:
        user = services.accounts.users.find(person.user.username)
        return services.archives.account_import.review(user, io.BytesIO(archive))

    def planned(person: Person, archive: bytes) -> list[tuple[str, str]]:
        return [(one.part, one.after) for one in review(person, archive).changes if one.name == "rule"]

    feed = reader.get("/v1/feeds")[0]
    label = services.entries.labels.create(reader.id, "Wet")
    archive = _export(services, reader)
    assert planned(bob, archive) == []

    given = [{"type": "label", "label_id": label.id}, {"type": "mark_read"}]
    of_feed = {"name": "Feed", "actions": [{"type": "drop"}], "scope": "feed", "feed_id": feed["id"]}
    reader.post("/v1/rules", {"query": "title:rain", "actions": given})
    reader.post("/v1/rules", of_feed)
    reader.post("/v1/rules", {"query": "off", "actions": [{"type": "star"}], "enabled": False})
    archive = _export(services, reader)
    rules = [("rules", "title:rain → label Wet, mark_read"), ("rules", "Feed → drop")]
    assert planned(bob, archive) == rules
    assert planned(reader, archive) == []

    # A rule that sends needs both parts.
    reader.post("/v1/rules", {"name": "Send", "query": "snow", "actions": [{"type": "webhook"}]})
    archive = _export(services, reader)
    sending = "Send: snow → webhook"
    assert planned(bob, archive) == [*rules, ("integrations", sending), ("rules", sending)]
    _import(services, bob, archive)
    assert planned(bob, archive) == []


def test_rules_of_the_archive_come_in_switched_off_unless_they_are_asked_for(
    reader: Person, bob: Person, services: AllServices
) -> None:
    feed = reader.get("/v1/feeds")[0]
    label = services.entries.labels.create(reader.id, "Wet")
    for rule in (
        {"query": "title:rain", "actions": [{"type": "label", "label_id": label.id}], "stop": True},
        {"name": "Feed", "actions": [{"type": "drop"}], "scope": "feed", "feed_id": feed["id"], "for_changed": True},
        {"name": "Send", "query": "snow", "actions": [{"type": "webhook"}, {"type": "star"}], "enabled": False},
        {"actions": [{"type": "save"}], "scope": "category", "category_id": feed["category"]["id"]},
        {"name": "Odd", "query": "odd", "actions": [{"type": "star"}]},
    ):
        reader.post("/v1/rules", rule)

    def damaged(lines: bytes) -> bytes:
        return lines.replace(b'"odd"', b'"rain ("')

    archive = _changed(_export(services, reader), records.RULES, damaged)
    report = _import(services, bob, archive, {ArchivePart.RULES})

    rules = bob.get("/v1/rules")
    assert [(rule["name"], rule["enabled"]) for rule in rules] == [
        ("title:rain", True),
        ("Feed", True),
        ("Send", False),
        # It sends, and integrations were not asked for.
        ("", False),
    ]
    given = [[action["type"] for action in rule["actions"]] for rule in rules]
    assert given == [["label"], ["drop"], ["webhook", "star"], ["save"]]
    (label_of_bob,) = (one["id"] for one in bob.get("/v1/labels") if one["title"] == "Wet")
    (feed_of_bob,) = (one["id"] for one in bob.get("/v1/feeds") if one["feed_url"] == feed["feed_url"])
    assert (rules[0]["actions"][0]["label_id"], rules[1]["feed_id"]) == (label_of_bob, feed_of_bob)
    assert (rules[0]["stop"], rules[1]["for_changed"]) == (True, True)
    assert [problem for problem in report.problems if problem.startswith("rule for every entry:")] == [
        "rule for every entry: added, but switched off"
    ]
    assert any(problem.startswith("rule Odd: query: cannot be read") for problem in report.problems)

    # Again, nothing is added twice; another account asks for nothing.
    _import(services, bob, archive)
    assert bob.get("/v1/rules") == rules
    bob.delete(f"/v1/rules/{rules[0]['id']}")
    _import(services, bob, archive, ())
    assert [rule["enabled"] for rule in bob.get("/v1/rules") if rule["name"] == "title:rain"] == [False]


def test_webhooks_of_the_archive_come_in_switched_off_unless_integrations_are_asked_for(
    reader: Person, bob: Person, services: AllServices
) -> None:
    feed = reader.get("/v1/feeds")[0]
    gone = reader.post("/v1/categories", {"title": "Gone"})
    (weather,) = (one["id"] for one in reader.get("/v1/categories") if one["title"] == "Weather & more")
    reader.post("/v1/views", {"name": "Wet", "query": "rain"})
    reader.put("/v1/integrations", {"webhook": {"enabled": True, "url": "https://hooks.example/main"}}, status=201)
    (main,) = reader.get("/v1/webhooks")
    reader.put(
        f"/v1/webhooks/{main['id']}", {"name": "First", "events": ["feed_failed"], "query": "is:starred"}, status=201
    )
    hooks_of_reader: dict[str, dict[str, Any]] = {
        "Storms": {"feed_ids": [feed["id"]], "category_ids": [weather, gone["id"]], "query": "S:wet -is:starred"},
        "All": {"events": ["import_finished", "entry_read"]},
        "Off": {"enabled": False},
        "Odd": {"query": "odd"},
        "Nowhere": {"category_ids": [gone["id"]]},
    }
    for name, more in hooks_of_reader.items():
        reader.post("/v1/webhooks", {"name": name, "url": f"https://hooks.example/{name.lower()}", **more})
    reader.delete(f"/v1/categories/{gone['id']}")
    archive = _changed(
        _export(services, reader), records.WEBHOOKS, lambda lines: lines.replace(b'"query":"odd"', b'"query":"rain ("')
    )

    def hooks() -> dict[str, dict[str, Any]]:
        return {one["name"]: one for one in bob.get("/v1/webhooks")}

    def secrets() -> list[str]:
        with services.reading() as db:
            return list(
                db.scalars(
                    text("SELECT settings FROM webhooks WHERE user_id IN (:reader, :bob) ORDER BY id"),
                    reader=reader.user.id,
                    bob=bob.user.id,
                )
            )

    def planned() -> list[str]:
        user = services.accounts.users.find(bob.user.username)
        changes = services.archives.account_import.review(user, io.BytesIO(archive)).changes
        return [one.after for one in changes if one.name == "webhooks"]

    assert not any("secret" in msgspec.json.decode(line) for line in _lines(archive, records.WEBHOOKS))
    assert planned()[:2] == ["Storms: https://hooks.example/storms", "All: https://hooks.example/all"]

    report = _import(services, bob, archive, ())

    (feed_of_bob,) = (one["id"] for one in bob.get("/v1/feeds") if one["feed_url"] == feed["feed_url"])
    (weather_of_bob,) = (one["id"] for one in bob.get("/v1/categories") if one["title"] == "Weather & more")
    added = hooks()
    assert [(name, one["enabled"], one["url"]) for name, one in added.items()] == [
        ("First", False, "https://hooks.example/main"),
        ("Storms", False, "https://hooks.example/storms"),
        ("All", False, "https://hooks.example/all"),
        ("Off", False, "https://hooks.example/off"),
    ]
    storms, everything = added["Storms"], added["All"]
    assert (storms["feed_ids"], storms["category_ids"], storms["query"]) == (
        [feed_of_bob],
        [weather_of_bob],
        "S:wet -is:starred",
    )
    assert everything["events"] == ["entry_read", "import_finished"]
    assert (added["First"]["events"], added["First"]["query"]) == (["feed_failed"], "is:starred")
    odd, nowhere = (problem for problem in report.problems if problem.startswith("webhook "))
    assert odd.startswith("webhook Odd: query: cannot be read")
    assert nowhere == "webhook Nowhere: none of its feeds and categories is in the archive."
    assert [one.name for one in report.left_off if one.name == "webhooks"] == ["webhooks"]
    assert len(set(secrets())) == len(secrets()) == 10

    # Asked for, they are switched on; nothing is added twice. What the user chose for the main one stays otherwise.
    mine = {"events": ["save_entry"], "query": "mine"}
    bob.put(f"/v1/webhooks/{added['First']['id']}", mine, status=201)
    _import(services, bob, archive, ())
    assert hooks()["First"].items() >= mine.items()
    _import(services, bob, archive)
    assert [(name, one["enabled"]) for name, one in hooks().items()] == [
        ("First", True),
        ("Storms", True),
        ("All", True),
        ("Off", False),
    ]
    assert hooks()["First"]["query"] == "is:starred"
    assert len(secrets()) == 10
    assert not {"All: https://hooks.example/all", "Storms: https://hooks.example/storms"} & set(planned())


def test_saved_views_of_the_archive_are_added_to_those_of_the_account(
    reader: Person, bob: Person, services: AllServices
) -> None:
    for name, query in (
        ("Wet", "rain"),
        ("Heavy", "S:wet heavy"),
        ("Home", "is:unread"),
        ("Odd", "odd"),
        ("Loop", "loop"),
    ):
        reader.post("/v1/views", {"name": name, "query": query, "icon": "star", "is_home": name == "Home"})
    reader.put(f"/v1/views/{reader.get('/v1/views')[1]['id']}", {"position": 1}, status=201)
    bob.post("/v1/views", {"name": "WET", "query": "snow"})

    def damaged(lines: bytes) -> bytes:
        return lines.replace(b'"odd"', b'"rain ("').replace(b'"loop"', b'"S:loop"')

    report = _import(services, bob, _changed(_export(services, reader), records.VIEWS, damaged))

    views = bob.get("/v1/views")
    assert [(view["name"], view["query"], view["is_home"]) for view in views] == [
        ("WET", "snow", False),
        ("Heavy", "S:wet heavy", False),
        ("Home", "is:unread", True),
    ]
    assert [problem[:9] for problem in report.problems if "view" in problem] == ["view Odd:", "view Loop"]
    _import(services, bob, _changed(_export(services, reader), records.VIEWS, damaged))
    assert bob.get("/v1/views") == views


def test_an_archive_of_before_labels_is_imported(reader: Person, bob: Person, services: AllServices) -> None:
    def without(content: bytes) -> bytes:
        entries = [msgspec.json.decode(line) for line in content.splitlines()]
        for entry in entries:
            del entry["labels"]
        return b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)

    def forget(content: bytes) -> bytes:
        manifest = msgspec.json.decode(content)
        del manifest["counts"][records.LABELS]
        return msgspec.json.encode(manifest)

    archive = _changed(_export(services, reader), records.ENTRIES, without)
    report = _import(services, bob, _changed(archive, records.MANIFEST, forget))

    assert report.new_entries == 4
    assert set(map(tuple, _names(services, bob).values())) == {()}


@pytest.mark.parametrize("name", [records.LABELS, records.ENTRIES])
def test_a_label_that_cannot_be_stored_is_left_out(
    reader: Person, bob: Person, services: AllServices, name: str
) -> None:
    def lengthen(content: bytes) -> bytes:
        return content.replace(b'"Work"', b'"%s"' % (b"x" * 201))

    report = _import(services, bob, _changed(_export(services, reader), name, lengthen))

    assert report.new_entries == 4
    assert any("too long" in problem for problem in report.problems)
    assert not any("x" * 201 in names for names in _names(services, bob).values())


def test_what_was_read_since_stays_read(reader: Person, services: AllServices) -> None:
    archive = _export(services, reader)
    unread = [entry["id"] for entry in reader.entries(status="unread")]
    assert unread
    reader.put("/v1/entries", {"entry_ids": unread, "status": "read"})

    _import(services, reader, archive)

    assert reader.entries(status="unread") == []


def test_an_entry_that_is_unread_here_is_not_snoozed(reader: Person, services: AllServices) -> None:
    (one,) = reader.get("/v1/entries/snooze")
    archive = _changed(_export(services, reader), records.ENTRIES, lambda lines: lines.replace(b'"read"', b'"unread"'))
    reader.delete(f"/v1/entries/{one['entry_id']}/snooze")

    _import(services, reader, archive)

    assert reader.get("/v1/entries/snooze") == []


def test_a_snooze_of_an_archive_ends_within_a_year(reader: Person, bob: Person, services: AllServices) -> None:
    archive = _changed(
        _export(services, reader), records.ENTRIES, lambda lines: lines.replace(A_DAY.encode(), b"9000-01-01")
    )

    _import(services, bob, archive)

    (one,) = bob.get("/v1/entries/snooze")
    assert one["until"] < "2200"


def test_a_stored_entry_is_hidden_if_it_is_so_in_the_archive(reader: Person, services: AllServices) -> None:
    hidden = {entry["title"] for entry in reader.entries(query="is:hidden")}
    assert hidden
    archive = _export(services, reader)
    with services.database.writing() as db:
        entries.set_hidden(db, reader.id, [entry["id"] for entry in reader.entries()], hidden=False)

    _import(services, reader, archive)

    assert {entry["title"] for entry in reader.entries(query="is:hidden")} == hidden


def test_without_secrets_no_password_is_in_the_file(reader: Person, bob: Person, services: AllServices) -> None:
    archive = _export(services, reader, with_secrets=False)

    assert b"secret key" not in b"".join(_lines(archive, records.INTEGRATIONS))
    assert b"password" not in b"".join(_lines(archive, records.FEEDS))
    report = _import(services, bob, archive)
    assert report.problems[0].startswith("linkding: ")
    assert services.deliveries.integrations.get_all(bob.id)["linkding"]["enabled"] is False


def test_a_stored_secret_does_not_go_to_an_address_of_the_archive(
    reader: Person, bob: Person, services: AllServices
) -> None:
    own = {"enabled": True, "url": "https://links.example.net", "token": "secret of bob"}
    services.deliveries.integrations.update(bob.id, {"linkding": own})
    before = services.deliveries.integrations.get_all(bob.id)["linkding"]

    report = _import(services, bob, _export(services, reader, with_secrets=False))

    (problem,) = report.problems
    assert "linkding.token: it was given for another host" in problem
    assert services.deliveries.integrations.get_all(bob.id)["linkding"] == before


def test_content_from_an_archive_is_cleaned(reader: Person, bob: Person, services: AllServices) -> None:
    archive = _changed(
        _export(services, reader),
        records.ENTRIES,
        lambda content: content.replace(b"About Fog.", b"Fog<script>alert(1)</script><img src=x onerror=alert(1)>"),
    )

    _import(services, bob, archive)

    contents = " ".join(entry["content"] for entry in bob.entries())
    assert "Fog" in contents
    assert "<script" not in contents
    assert "onerror" not in contents


@pytest.mark.slow
def test_a_large_archive_is_cleaned_and_stored_whole(reader: Person, bob: Person, services: AllServices) -> None:
    archive = _export(services, reader)
    line = msgspec.json.decode(_lines(archive, records.ENTRIES)[0]) | {"share_code": ""}
    content = "<p>Rain</p><script>alert(1)</script>"
    many = [line | {"hash": f"{number:064x}", "content": content, "labels": []} for number in range(1_201)]
    archive = _changed(archive, records.ENTRIES, lambda _: b"".join(msgspec.json.encode(one) + b"\n" for one in many))
    archive = _changed(archive, records.MANIFEST, _with_count(records.ENTRIES, len(many)))

    first, second = _import(services, bob, archive), _import(services, bob, archive)

    assert (first.new_entries, first.known_entries) == (1_201, 0)
    assert (second.new_entries, second.known_entries) == (0, 1_201)
    assert {entry["content"] for entry in bob.entries()} == {"<p>Rain</p>"}


def _with_count(name: str, count: int) -> Any:
    def changed(manifest: bytes) -> bytes:
        document = msgspec.json.decode(manifest)
        document["counts"][name] = count
        return msgspec.json.encode(document)

    return changed


_DAMAGED: list[tuple[str, Any, str]] = [
    (records.ENTRIES, lambda content: content[:-40], "Line "),
    (records.ENTRIES, lambda content: b"\n".join(content.splitlines()[1:]) + b"\n", "lines instead of"),
    (records.ENTRIES, lambda content: content.replace(b'"hash":"', b'"hash":"zz'), "Line 1 of entries.jsonl"),
    (records.ENTRIES, lambda content: content.replace(b'"feed":', b'"feed":9'), "no feed with the number"),
    (records.FEEDS, lambda content: content.replace(b'"category":"', b'"category":"?'), "there is no category"),
    (records.SETTINGS, lambda content: content.replace(b"50", b'"many"'), "settings.json"),
    (records.MANIFEST, lambda content: content.replace(b'"version": 1', b'"version": 2'), "upgrade Tidings"),
    (records.MANIFEST, lambda content: content.replace(b"tidings-archive", b"other"), "another format"),
    (records.INTEGRATIONS, lambda content: content[:-5], "integrations.json"),
    (records.SETTINGS, lambda _: b'{"future":' * 5_000 + b"1" + b"}" * 5_000, "nested too deeply"),
    (records.INTEGRATIONS, lambda _: b'{"ntfy":' * 5_000 + b"1" + b"}" * 5_000, "nested too deeply"),
    (records.MANIFEST, lambda _: b'{"format":' * 5_000 + b"1" + b"}" * 5_000, "nested too deeply"),
    (records.FEEDS, lambda _: b'{"number":1,"category":"All","settings":[]}\n', "required field `feed_url`"),
    (records.FEEDS, lambda content: content[:-2] + b',"future":' + b"[" * 5_000 + b"]" * 5_000 + b"}\n", "Line 1"),
]


@pytest.mark.slow
def test_a_damaged_archive_changes_nothing(reader: Person, bob: Person, services: AllServices) -> None:
    archive = _export(services, reader)
    for name, change, problem in _DAMAGED:
        with pytest.raises(InvalidInput, match=problem):
            _import(services, bob, _changed(archive, name, change))

        assert bob.get("/v1/feeds") == [], problem
        assert [category["title"] for category in bob.get("/v1/categories")] == ["All"], problem
        assert bob.get("/v1/me")["theme"] == "light_serif", problem


def _with(**values: Any) -> Any:
    """Return a change that sets these members of a document."""
    return lambda content: msgspec.json.encode(msgspec.json.decode(content) | values)


def _with_feed_setting(**values: Any) -> Any:
    def changed(content: bytes) -> bytes:
        feed = msgspec.json.decode(content)
        return msgspec.json.encode(feed | {"settings": feed["settings"] | values}) + b"\n"

    return changed


_UNKNOWN = [
    (records.SETTINGS, _with(timezone="America/Coyhaique2"), "setting timezone: 'America/Coyhaique2'"),
    (records.SETTINGS, _with(language="xx_XX"), "setting language: 'xx_XX'"),
    (records.SETTINGS, _with(theme="aurora"), "setting theme: 'aurora'"),
    (records.SETTINGS, _with(entries_per_page=100_000), "setting entries_per_page: give a number"),
    (records.SETTINGS, _with(entries_per_page="many"), "setting entries_per_page: settings.json"),
    (records.SETTINGS, _with(media_playback_rate=[[1]]), "setting media_playback_rate: "),
    (records.SETTINGS, _with(future_setting=1), "setting future_setting: this version does not have it"),
    (records.FEEDS, _with_feed_setting(future_flag=True), "future_flag of feed http"),
    (records.FEEDS, _with_feed_setting(keep_read_days=10**9), "keep_read_days of feed http"),
    (records.FEEDS, _with_feed_setting(rewrite_rules="rule_of_2030"), "rewrite_rules of feed http"),
    (records.FEEDS, _with_feed_setting(blocklist_rules="(?i"), "blocklist_rules of feed http"),
    (records.FEEDS, _with(colour="red"), "colour in feeds.jsonl: this version does not have it"),
    (records.FEEDS, _with(edited="all"), "line 1 of feeds.jsonl: edited: "),
    (records.FEEDS, _with(category="x" * 2_000), "category xxx"),
    (records.LABELS, lambda content: content.replace(b"}", b',"colour":"red"}'), "colour in labels.jsonl: this"),
    (records.ENTRIES, lambda content: content.replace(b'"status":"read"', b'"status":"new"'), "status of entry "),
    (
        records.ENTRIES,
        lambda content: content.replace(b'"reading_time":', b'"reading_time":9999999999'),
        "reading_time: ",
    ),
    (records.ENTRIES, lambda content: content.replace(b'"tags":[]', b'"tags":[7]'), "line 1 of entries.jsonl: tags: "),
    (
        records.ENTRIES,
        lambda content: content.replace(b'"enclosures":[]', b'"enclosures":[{"url":"a","mime_type":"\\u0000"}]'),
        "enclosures of entry ",
    ),
    (
        records.ENTRIES,
        lambda content: content.replace(b'"enclosures":[]', b'"enclosures":[{"url":"https://a.example/","size":-1}]'),
        "line 1 of entries.jsonl: enclosures: ",
    ),
    (records.INTEGRATIONS, _with(paper={"enabled": True}), "integration paper: this version does not know it"),
    (records.INTEGRATIONS, _with(linkding={"enabled": False, "ink": 1}), "linkding.ink: this version does not have it"),
    (records.INTEGRATIONS, _with(linkding={"enabled": False, "url": 7, "tags": "b"}), "linkding: linkding.url: "),
]


@pytest.mark.slow
def test_what_this_version_cannot_use_is_left_out_and_named(reader: Person, cast: Cast, services: AllServices) -> None:
    exported = _export(services, reader)
    for name, change, problem in _UNKNOWN:
        archive, bob = exported, cast.person("bob")
        if name == records.FEEDS and problem.startswith("category"):
            archive = _changed(archive, records.CATEGORIES, lambda text: text + b'{"title":"%s"}\n' % (b"x" * 2_000))
            archive = _changed(archive, records.MANIFEST, _with_count(records.CATEGORIES, 5))

        report = _import(services, bob, _changed(archive, name, change))

        assert (report.new_feeds, report.new_entries) == (1, 4), problem
        assert any(problem in told for told in report.problems), report.problems
        assert len(bob.get("/v1/feeds")) == 1, problem
        if name != records.SETTINGS or "theme" not in problem:
            assert bob.get("/v1/me")["theme"] == "dark_serif", problem


def test_a_feed_without_a_usable_url_is_left_out_with_its_entries(
    reader: Person, bob: Person, services: AllServices
) -> None:
    archive = _export(services, reader)

    report = _import(
        services, bob, _changed(archive, records.FEEDS, lambda content: content.replace(b"http://", b"gemini://"))
    )

    assert [problem.partition(":")[0] for problem in report.problems] == [
        "feed gemini",
        "4 entries of feeds that cannot be used",
    ]
    assert bob.get("/v1/feeds") == []
    assert bob.get("/v1/me")["theme"] == "dark_serif"


@pytest.mark.one_engine
def test_members_of_a_newer_version_are_named(reader: Person, bob: Person, services: AllServices) -> None:
    archive = io.BytesIO(_export(services, reader))
    with zipfile.ZipFile(archive, "a") as written:
        written.writestr("highlights.jsonl", b"{}\n")

    report = _import(services, bob, archive.getvalue())

    assert report.problems == ["highlights.jsonl: this version does not know what it is"]
    assert report.new_entries == 4


@pytest.mark.one_engine
def test_a_thousand_unknown_values_are_told_in_a_few_lines(reader: Person, bob: Person, services: AllServices) -> None:
    unknown = {f"future_{number}": 1 for number in range(1_000)}

    report = _import(services, bob, _changed(_export(services, reader), records.SETTINGS, _with(**unknown)))

    assert len(report.problems) == 21
    assert report.problems[-1] == "980 more settings"


@pytest.mark.one_engine
@pytest.mark.slow
@pytest.mark.parametrize("name", [records.ENTRIES, records.SETTINGS, records.MANIFEST])
def test_a_member_that_would_fill_the_memory_is_refused(
    reader: Person, bob: Person, services: AllServices, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A ZIP file of some kilobytes can hold a line of gigabytes."""
    monkeypatch.setattr(archive_file, "MAX_LINE", 2**20)
    bomb = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(_export(services, reader))) as source,
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for member in source.namelist():
            with target.open(member, "w") as written:
                written.write(b"" if member == name else source.read(member))
                for _ in range(64 if member == name else 0):
                    written.write(bytes(2**20))
    assert len(bomb.getvalue()) < 2**20

    tracemalloc.start()
    with pytest.raises(InvalidInput, match=name.replace(".", r"\.")):
        _import(services, bob, bomb.getvalue())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 16 * 2**20
    assert bob.get("/v1/feeds") == []


def _bomb(content: bytes, members: int) -> bytes:
    """Return an archive with many members that share the same data, which is stored once."""
    bomb = io.BytesIO(content)
    with zipfile.ZipFile(bomb, "a", zipfile.ZIP_DEFLATED) as written:
        written.writestr("0", bytes(16 * 2**20))
        shared = written.getinfo("0")
        for number in range(1, members):
            another = copy(shared)
            another.filename = another.orig_filename = str(number)
            written.filelist.append(another)
    return bomb.getvalue()


@pytest.mark.one_engine
def test_a_bomb_is_refused_before_anything_is_unpacked(
    reader: Person, bob: Person, services: AllServices, tmp_path: Path
) -> None:
    archive = _export(services, reader)
    small, large = _bomb(archive, 60), _bomb(archive, 70)
    assert len(large) < 2**18

    _import(services, bob, small)
    explained = r"unpacks to 1,?12\d MB\. At most 1,?024 MB are read: 100 times"
    with pytest.raises(InvalidInput, match=explained):
        _import(services, bob, large)
    (tmp_path / "saved.zip").write_bytes(large)
    with pytest.raises(InvalidInput, match=explained), ExportFiles(tmp_path / "saved.zip"):
        pass


@pytest.mark.parametrize("content", [b"", b"<opml/>", b"PK\x03\x04 cut"])
def test_another_file_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidInput, match="not a Tidings archive"):
        ArchiveReader(io.BytesIO(content))


@pytest.mark.one_engine
def test_an_archive_with_a_damaged_byte_is_refused(reader: Person, bob: Person, services: AllServices) -> None:
    archive = bytearray(_export(services, reader))
    with zipfile.ZipFile(io.BytesIO(bytes(archive))) as opened:
        at = opened.getinfo(records.ENTRIES).header_offset + 200
    archive[at] ^= 0xFF

    with pytest.raises(InvalidInput, match=r"entries\.jsonl"):
        _import(services, bob, bytes(archive))

    assert bob.get("/v1/feeds") == []
