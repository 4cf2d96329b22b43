"""What an archive has of own bridges: with other secrets alone, and for those who ask for integrations."""

from __future__ import annotations

import io
import zipfile

from newsletters.test_archives import exported, imported
from support.people import Person
from tidings.archives import records
from tidings.archives.parts import ArchivePart, LeftOff

API = "/v1/bridges"
ADDRESSES = {
    "rssbridge_url": "https://al:s3cret@bridge.example.org",
    "rsshub_url": "https://hub.example.org/s3cret",
    "flaresolverr_url": "",
}


def test_addresses_are_in_archives_with_secrets_alone(alice: Person) -> None:
    alice.put(API, ADDRESSES, status=201)

    with zipfile.ZipFile(io.BytesIO(exported(alice))) as archive:
        assert records.BRIDGES not in archive.namelist()
        assert all(b"s3cret" not in archive.read(name) for name in archive.namelist())
    with zipfile.ZipFile(io.BytesIO(exported(alice, with_secrets=True))) as archive:
        assert archive.read(records.BRIDGES).count(b"s3cret") == 2


def test_bridges_come_in_if_integrations_are_asked_for(alice: Person, bob: Person) -> None:
    alice.put(API, ADDRESSES, status=201)
    archive = exported(alice, with_secrets=True)
    account_import = bob.service.services.archives.account_import

    review = account_import.review(bob.user, io.BytesIO(archive))
    planned = {(one.part, one.name, one.after) for one in review.changes if one.name in ADDRESSES}
    without = imported(bob, archive, {ArchivePart.SETTINGS})

    assert planned == {
        (ArchivePart.INTEGRATIONS, "rssbridge_url", "https://bridge.example.org"),
        (ArchivePart.INTEGRATIONS, "rsshub_url", "https://hub.example.org/s3cret"),
    }
    assert LeftOff(ArchivePart.INTEGRATIONS, "rsshub_url") in without.left_off
    assert not any(bob.get(API)[name] for name in ADDRESSES)
    assert imported(bob, archive).problems == []
    assert imported(bob, archive).left_off == []
    assert bob.get(API) == alice.get(API)


def test_what_the_account_has_set_stays(alice: Person, bob: Person) -> None:
    alice.put(API, ADDRESSES, status=201)
    bob.put(API, {"rsshub_url": "https://other.example.org"}, status=201)

    imported(bob, exported(alice, with_secrets=True))

    assert bob.get(API)["rsshub_url"] == "https://other.example.org"
    assert bob.get(API)["rssbridge_url"] == ADDRESSES["rssbridge_url"]
