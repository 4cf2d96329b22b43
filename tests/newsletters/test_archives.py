"""What an archive has of newsletters: senders with their feeds, and secret addresses among other secrets only."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection

import msgspec

from archives.test_account_archive import _changed, _lines
from newsletters.letters import delivered, has_address, message, senders
from support.people import Person
from tidings.archives import records
from tidings.archives.import_runs import AccountImportReport
from tidings.archives.parts import ALL_PARTS, ArchivePart


def exported(person: Person, *, with_secrets: bool = False) -> bytes:
    file = io.BytesIO()
    export = person.service.services.archives.account_export
    export.write(person.user, file, with_secrets=with_secrets, progress=lambda *_: None)
    return file.getvalue()


def imported(person: Person, archive: bytes, parts: Collection[ArchivePart] = ALL_PARTS) -> AccountImportReport:
    account_import = person.service.services.archives.account_import
    return account_import.store(person.user, io.BytesIO(archive), lambda *_: None, parts=parts)


def has_senders(person: Person) -> str:
    """Receive letters of two senders, block a third one, and return the path of the address."""
    sea = person.post("/v1/categories", {"title": "Sea"})["id"]
    path = has_address(person, "Morning", category_id=sea)
    delivered(person, path, message(1))
    delivered(person, path, message(2, "Winds <post@winds.example>", "List-Id: <l.winds.example>"))
    delivered(person, path, message(3, "Spam <spam@spam.example>"))
    spam = senders(person)["Spam"]
    person.put(f"/v1/newsletters/senders/{spam['id']}", {"blocked": True}, status=201)
    winds, tides = senders(person)["Winds"], senders(person)["Tides"]
    values = {"feed_id": tides["feed_id"], "name": "Wind and tide"}
    person.put(f"/v1/newsletters/senders/{winds['id']}", values, status=201)
    return path


def test_senders_and_their_feeds_come_back(alice: Person, bob: Person) -> None:
    has_senders(alice)

    report = imported(bob, exported(alice))

    found = senders(bob)
    assert sorted(found) == ["Spam", "Tides", "Wind and tide"]
    assert found["Wind and tide"]["list_id"] == "l.winds.example"
    assert found["Wind and tide"]["feed_id"] == found["Tides"]["feed_id"]
    assert found["Tides"]["address"] == "post@tides.example"
    assert [name for name, one in found.items() if one["blocked"]] == ["Spam"]
    assert (report.problems, bob.get("/v1/newsletters")) == ([], [])
    # The next letter goes where it went in the other account.
    winds = message(4, "Winds <post@winds.example>", "List-Id: <l.winds.example>")
    assert delivered(bob, has_address(bob), winds)["feed_id"] == found["Tides"]["feed_id"]


def test_secret_addresses_are_among_other_secrets_only(alice: Person, bob: Person) -> None:
    secret = has_senders(alice).rpartition("/")[2]

    with zipfile.ZipFile(io.BytesIO(exported(alice))) as archive_file:
        assert records.NEWSLETTERS in archive_file.namelist()
        assert records.NEWSLETTER_ADDRESSES not in archive_file.namelist()
        assert not any(secret.encode() in archive_file.read(name) for name in archive_file.namelist())
    archive = exported(alice, with_secrets=True)

    (address,) = [msgspec.json.decode(line) for line in _lines(archive, records.NEWSLETTER_ADDRESSES)]
    assert address == {"name": "Morning", "secret": secret, "one_feed": False, "category": "Sea"}
    # It belongs to one account only.
    assert imported(bob, archive).problems == ["newsletter address Morning: its secret is in use."]
    assert bob.get("/v1/newsletters") == []


def test_a_secret_address_moves_to_another_account(alice: Person, bob: Person) -> None:
    path = has_senders(alice)
    archive = exported(alice, with_secrets=True)
    alice.delete(f"/v1/newsletters/{alice.get('/v1/newsletters')[0]['id']}")

    assert imported(bob, archive, {ArchivePart.RULES}).problems == ["newsletter address Morning: left out"]
    assert imported(bob, archive).problems == []
    assert imported(bob, archive).problems == []

    (address,) = bob.get("/v1/newsletters")
    titles = {one["id"]: one["title"] for one in bob.get("/v1/categories")}
    assert (address["post_path"], address["name"], titles[address["category_id"]]) == (path, "Morning", "Sea")
    assert delivered(bob, path, message(9))["feed_id"] == senders(bob)["Tides"]["feed_id"]


def test_nobody_is_blocked_unless_rules_are_asked_for(alice: Person, bob: Person) -> None:
    has_senders(alice)
    archive = exported(alice, with_secrets=True)
    review = bob.service.services.archives.account_import.review(bob.user, io.BytesIO(archive))

    report = imported(bob, archive, ())

    assert [(change.part, change.name, change.after) for change in review.changes if change.name == "newsletter"] == [
        ("rules", "newsletter", "Spam"), ("integrations", "newsletter", "Morning"),
    ]  # fmt: skip
    assert "newsletter Spam: added, but not blocked" in report.problems
    assert not any(one["blocked"] for one in senders(bob).values())


def test_senders_of_the_account_stay_as_they_are(alice: Person, bob: Person) -> None:
    has_senders(alice)
    feed = delivered(bob, has_address(bob), message(1, "Spam <spam@spam.example>"))["feed_id"]

    imported(bob, exported(alice))

    assert (senders(bob)["Spam"]["blocked"], senders(bob)["Spam"]["feed_id"]) == (False, feed)


def test_what_cannot_be_used_is_named(alice: Person, bob: Person) -> None:
    has_senders(alice)

    def damaged(lines: bytes) -> bytes:
        return lines.replace(b'"from:spam@spam.example"', b'"x"').replace(b'"Wind and tide"', b'" "')

    def without_address(lines: bytes) -> bytes:
        return lines.replace(b'"secret":"', b'"secret":"!')

    archive = _changed(exported(alice, with_secrets=True), records.NEWSLETTERS, damaged)
    report = imported(bob, _changed(archive, records.NEWSLETTER_ADDRESSES, without_address))

    assert sorted(senders(bob)) == ["Tides"]
    assert [problem for problem in report.problems if problem.startswith("newsletter")] == [
        "newsletter Spam: it is not known by a List-Id or an address.",
        "newsletter  : name: give it a name.",
        "newsletter address Morning: its secret cannot be used.",
    ]
