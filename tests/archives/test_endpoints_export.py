"""GET /v1/export/archive sends the caller's whole account while it makes the file."""

from __future__ import annotations

import io
import zipfile
from hashlib import sha256
from itertools import pairwise

import pytest

from support.people import Person
from support.publisher import Publisher
from tidings.archives import account_export, records
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow


def _lines(archive: bytes, name: str) -> list[bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        return file.read(name).splitlines()


@pytest.mark.slow
def test_an_archive_from_the_api_is_that_of_the_caller_without_secrets(
    alice: Person, bob: Person, site: Publisher
) -> None:
    feed = alice.has_feed(site, ["Rain", "Snow"])
    alice.put(f"/v1/feeds/{feed['id']}", {"username": "me", "password": "hidden words"}, status=201)
    bob.has_feed(site, ["Wind"])

    answer = alice.call("GET", "/v1/export/archive")

    assert (answer.status, answer.headers["content-type"]) == (200, "application/zip")
    assert "content-length" not in answer.headers
    assert len(_lines(answer.body, records.FEEDS)) == 1
    entries = b"".join(_lines(answer.body, records.ENTRIES))
    assert (b"Rain" in entries, b"Snow" in entries, b"Wind" in entries) == (True, True, False)
    assert b"hidden words" not in b"".join(_lines(answer.body, records.FEEDS))


def test_pieces_are_sent_before_the_archive_is_complete(
    alice: Person, site: Publisher, services: AllServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Titles that can hardly be compressed.
    alice.has_feed(site, [sha256(bytes([number])).hexdigest() * 3 for number in range(200)])
    monkeypatch.setattr(account_export, "_PIECE", 200)
    user = services.accounts.users.find(alice.user.username)

    pieces = list(services.archives.account_export.stream(user))

    assert len(pieces) > 2
    assert all(first for first, _ in pairwise(pieces))
    assert len(_lines(b"".join(pieces), records.ENTRIES)) == 200
