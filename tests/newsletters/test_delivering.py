"""Messages become entries of ordinary feeds, through the address that only their user knows."""

from __future__ import annotations

import pytest

from newsletters.letters import deliver, delivered, has_address, message, senders
from support.people import Person, call
from support.publisher import Publisher
from tidings.content.letters import MAX_LETTER_BYTES
from tidings.newsletters import model
from tidings.newsletters.services import NewsletterServices


def test_a_letter_is_an_unread_entry_of_its_senders_feed(alice: Person) -> None:
    path = has_address(alice)
    html = '<p onclick="x()">High water at <b>noon</b>.</p><a href="https://tides.example/1">View in browser</a>'

    result = delivered(alice, path, message(1, body=html))

    entry = alice.get(f"/v1/entries/{result['entry_id']}")
    assert (entry["title"], entry["status"], entry["author"]) == ("High water 1", "unread", "Tides")
    assert entry["published_at"] == "2026-11-20T07:30:00Z"
    assert entry["url"] == "https://tides.example/1"
    assert entry["content"].startswith("<p>High water at <b>noon</b>.</p>")
    assert (entry["feed"]["title"], entry["feed"]["id"]) == ("Tides", result["feed_id"])
    assert alice.get("/v1/feeds/counters")["unreads"] == {str(result["feed_id"]): 1}


def test_letters_of_a_sender_share_a_feed_and_others_have_their_own(alice: Person) -> None:
    path = has_address(alice)
    feeds = [
        delivered(alice, path, message(number, *more))["feed_id"]
        for number, more in enumerate(
            [
                ("Tides <post@tides.example>",),
                ("Tides <POST@tides.example>",),
                ("Winds <post@winds.example>",),
                ("Ada <ada@tides.example>", "List-Id: <l.tides.example>"),
                ("Bea <bea@tides.example>", "List-Id: <L.tides.example>"),
            ]
        )
    ]

    assert feeds[0] == feeds[1] != feeds[2]
    assert feeds[3] == feeds[4] not in feeds[:3]


def test_an_address_may_have_one_feed_for_all(alice: Person) -> None:
    path = has_address(alice, "Morning", one_feed=True)

    feeds = [delivered(alice, path, message(n, f"S{n} <s{n}@tides.example>"))["feed_id"] for n in range(3)]

    assert len(set(feeds)) == 1
    assert alice.get(f"/v1/feeds/{feeds[0]}")["title"] == "Morning"
    assert {entry["author"] for entry in alice.entries()} == {"S0", "S1", "S2"}


def test_new_feeds_go_to_the_category_of_the_address(alice: Person) -> None:
    sea = alice.post("/v1/categories", {"title": "Sea"})["id"]
    path = has_address(alice, category_id=sea)

    feed = alice.get(f"/v1/feeds/{delivered(alice, path, message())['feed_id']}")

    assert feed["category"]["id"] == sea


def test_copies_of_a_letter_are_stored_once(alice: Person) -> None:
    first, second = has_address(alice), has_address(alice, "Another")
    results = [
        delivered(alice, first, message(1)),
        delivered(alice, first, message(1, "Tides <post@tides.example>", "Received: from a by b")),
        delivered(alice, second, message(1, "Tides <post@tides.example>", "To: ", "Cc: x@y.example")),
    ]

    assert [one["result"] for one in results] == ["stored", "repeated", "repeated"]
    assert len(alice.entries()) == 1
    assert senders(alice)["Tides"]["letters"] == 1
    # A deleted entry does not come back either.
    alice.put("/v1/entries", {"entry_ids": [results[0]["entry_id"]], "status": "removed"})
    assert delivered(alice, first, message(1))["result"] == "repeated"


def test_the_same_letter_belongs_to_each_user_who_gets_it(alice: Person, bob: Person) -> None:
    hers, his = (delivered(person, has_address(person), message(1)) for person in (alice, bob))

    assert {hers["result"], his["result"]} == {"stored"}
    assert [entry["id"] for entry in bob.entries()] == [his["entry_id"]]
    assert bob.call("GET", f"/v1/entries/{hers['entry_id']}").status == 404
    assert [one["feed_id"] for one in bob.get("/v1/newsletters/senders")] == [his["feed_id"]]


def test_letters_pass_filters_and_rules(alice: Person) -> None:
    path = has_address(alice)
    feed = delivered(alice, path, message(1))["feed_id"]
    alice.put(f"/v1/feeds/{feed}", {"block_filter_entry_rules": "EntryTitle=(?i)sale"}, status=201)
    alice.post("/v1/rules", {"query": "title:noon", "actions": [{"type": "star"}]})

    sale = delivered(alice, path, message(2, "Tides <post@tides.example>", "Subject: Sale"))
    noon = delivered(alice, path, message(3, "Tides <post@tides.example>", "Subject: Noon"))

    assert (sale["result"], sale["entry_id"]) == ("filtered", None)
    assert alice.get(f"/v1/entries/{noon['entry_id']}")["starred"]
    assert [entry["title"] for entry in alice.entries(search="noon")] == ["Noon"]


def test_spam_is_marked_and_kept(alice: Person) -> None:
    found = delivered(alice, has_address(alice), message(1, "X <x@y.example>", "X-Spam-Flag: YES"))

    assert alice.get(f"/v1/entries/{found['entry_id']}")["tags"] == ["spam"]
    assert senders(alice)["X"]["spam"]


def test_a_message_that_cannot_be_read_is_kept_as_it_came(alice: Person) -> None:
    raw = b"From: Odd <odd@tides.example>\nSubject: Odd\n" + b"X-A: b\n" * 6_000 + b"\n<b>High</b> water"

    entry = alice.get(f"/v1/entries/{delivered(alice, has_address(alice), raw)['entry_id']}")

    assert (entry["title"], entry["feed"]["title"]) == ("Odd", "Odd")
    assert "too many parts" in entry["content"]
    assert "&lt;b&gt;High&lt;/b&gt; water" in entry["content"]


@pytest.mark.parametrize("raw", [b"", b"\0\xff", b"Subject: \n\n", b"From: \r\n\r\n"])
def test_whatever_arrives_is_stored(raw: bytes, alice: Person) -> None:
    result = delivered(alice, has_address(alice), raw)

    entry = alice.get(f"/v1/entries/{result['entry_id']}")
    assert entry["title"]
    assert entry["feed"]["title"] == model.UNKNOWN_SENDER


def test_a_secret_is_the_only_way_in(alice: Person) -> None:
    path = has_address(alice)
    secret = path.rpartition("/")[2]
    url = alice.service.url

    assert deliver(alice, path.upper().replace("/MAIL/", "/mail/"), message(1)).status == 200
    for wrong in (secret[:-1], secret[:-1] + ("a" if secret[-1] != "a" else "b"), "a" * 32, alice.token, "x/y", ""):
        answer = call(url, "POST", f"/mail/{wrong}", message(2), {"X-Auth-Token": alice.token})
        assert answer.status == 404, wrong
        assert answer.error == "There is nothing at this address."
    for method in ("GET", "PUT", "DELETE"):
        assert call(url, method, path).status == 405
    assert len(alice.entries()) == 1


def test_nothing_arrives_at_a_deleted_address_and_its_feeds_stay(alice: Person) -> None:
    path = has_address(alice)
    delivered(alice, path, message(1))
    (address,) = alice.get("/v1/newsletters")
    assert (address["letters"], bool(address["last_letter_at"])) == (1, True)

    alice.delete(f"/v1/newsletters/{address['id']}")

    assert deliver(alice, path, message(2)).status == 404
    assert alice.get("/v1/newsletters") == []
    assert len(alice.entries()) == 1


def test_a_message_that_is_too_large_is_refused(alice: Person) -> None:
    answer = deliver(alice, has_address(alice), b"Subject: x\n\n" + b"x" * MAX_LETTER_BYTES)

    assert (answer.status, "10 MiB" in answer.error) == (413, True)
    assert alice.entries() == []


def test_an_address_takes_only_so_many_letters_in_an_hour(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    newsletters = alice.service.services.of(NewsletterServices).newsletters
    monkeypatch.setattr(model, "MAX_LETTERS_PER_HOUR", 2)
    address = newsletters.create_address(alice.id, "Busy")
    for number in range(2):
        newsletters.receive(address, message(number))

    with pytest.raises(Exception, match="has received 2 letters"):
        newsletters.receive(address, message(3))

    assert len(alice.entries()) == 2


def test_a_blocked_sender_is_discarded_and_counted(alice: Person) -> None:
    path = has_address(alice)
    delivered(alice, path, message(1))
    sender = senders(alice)["Tides"]
    alice.put(f"/v1/newsletters/senders/{sender['id']}", {"blocked": True}, status=201)

    assert delivered(alice, path, message(2))["result"] == "blocked"

    known = senders(alice)["Tides"]
    assert (known["discarded"], known["letters"], len(alice.entries())) == (1, 1, 1)
    alice.put(f"/v1/newsletters/senders/{sender['id']}", {"blocked": False}, status=201)
    assert delivered(alice, path, message(3))["result"] == "stored"


def test_merged_senders_share_a_feed(alice: Person) -> None:
    path = has_address(alice)
    tides = delivered(alice, path, message(1))["feed_id"]
    delivered(alice, path, message(2, "Winds <post@winds.example>"))
    winds = senders(alice)["Winds"]

    alice.put(f"/v1/newsletters/senders/{winds['id']}", {"feed_id": tides}, status=201)

    assert delivered(alice, path, message(3, "Winds <post@winds.example>"))["feed_id"] == tides


def test_only_own_feeds_of_letters_can_be_merged_into(alice: Person, bob: Person, site: Publisher) -> None:
    delivered(alice, has_address(alice), message(1))
    other = delivered(bob, has_address(bob), message(1))["feed_id"]
    sender = senders(alice)["Tides"]

    for feed in (other, alice.has_feed(site)["id"], model.MAX_SENDERS**3):
        answer = alice.call("PUT", f"/v1/newsletters/senders/{sender['id']}", {"feed_id": feed})
        assert (answer.status, "feeds of newsletters" in answer.error) == (400, True)


def test_a_renamed_sender_renames_its_feed(alice: Person) -> None:
    path = has_address(alice)
    feed = delivered(alice, path, message(1))["feed_id"]
    sender = senders(alice)["Tides"]

    alice.put(f"/v1/newsletters/senders/{sender['id']}", {"name": "  Tide  tables "}, status=201)
    delivered(alice, path, message(2, "Renamed <post@tides.example>"))

    assert [one["id"] for one in alice.get("/v1/newsletters/senders")] == [sender["id"]]
    assert senders(alice)["Tide tables"]["letters"] == 2
    assert alice.get(f"/v1/feeds/{feed}")["title"] == "Tide tables"


def test_a_deleted_feed_is_made_again_by_the_next_letter(alice: Person) -> None:
    path = has_address(alice)
    feed = delivered(alice, path, message(1))["feed_id"]
    alice.delete(f"/v1/feeds/{feed}")
    assert senders(alice)["Tides"]["feed_id"] is None

    assert delivered(alice, path, message(2))["feed_id"] not in (feed, None)


def test_what_a_letter_says_about_its_sender_is_shown(alice: Person) -> None:
    headers = (
        "Authentication-Results: mx.example; spf=pass smtp.mailfrom=x; dkim=fail",
        "List-Unsubscribe: <https://tides.example/leave>, <mailto:leave@tides.example>",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
        "List-Id: <l.tides.example>",
    )
    delivered(alice, has_address(alice), message(1, "Tides <post@tides.example>", *headers))

    known = senders(alice)["Tides"]
    assert known["authentication"] == "spf=pass dkim=fail"
    assert (known["list_id"], known["address"]) == ("l.tides.example", "post@tides.example")
    assert known["unsubscribe_url"] == "https://tides.example/leave"
    assert (known["unsubscribe_mail"], known["one_click"]) == ("mailto:leave@tides.example", True)


def test_a_confirmation_is_told_until_it_is_done(alice: Person) -> None:
    body = '<p>Welcome to the newsletter.</p><a href="https://tides.example/c?t=1">Confirm</a>'
    path = has_address(alice)
    delivered(alice, path, message(1, "Tides <a@tides.example>", "Subject: Confirm your subscription", body=body))
    sender = senders(alice)["Tides"]
    assert sender["confirmation_url"] == "https://tides.example/c?t=1"
    assert sender["confirmation_subject"] == "Confirm your subscription"

    done = alice.put(f"/v1/newsletters/senders/{sender['id']}", {"confirmed": True}, status=201)

    assert (done["confirmation_url"], done["confirmation_subject"]) == ("", "")


def test_names_of_addresses_are_checked(alice: Person) -> None:
    for name in ("", " \n ", "x" * 201):
        answer = alice.call("POST", "/v1/newsletters", {"name": name})
        assert (answer.status, answer.error.startswith("name:")) == (400, True)
    assert alice.call("POST", "/v1/newsletters", {"name": "x", "category_id": 2**31 - 1}).status == 404
