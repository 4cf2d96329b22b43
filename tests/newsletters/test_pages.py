"""The page of newsletters."""

from __future__ import annotations

from newsletters.letters import delivered, has_address, message, senders
from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.newsletters import store

PAGE = "/newsletters"


def test_an_address_is_made_shown_and_deleted(reader: Visitor, alice: Person) -> None:
    assert "You have no address yet." in reader.page(PAGE)

    reader.post(PAGE, name="Morning <b>", one_feed="on")

    (made,) = alice.get("/v1/newsletters")
    page = reader.page(PAGE)
    assert f"{made['post_path']}" in page
    assert "Morning &lt;b&gt;" in page
    assert "One feed for all" in page
    assert "nothing more arrives there" in reader.page(f"{PAGE}/{made['id']}/delete")
    reader.post(f"{PAGE}/{made['id']}/delete")
    assert alice.get("/v1/newsletters") == []


def test_an_address_needs_no_name(reader: Visitor, alice: Person) -> None:
    reader.get(PAGE)

    reader.post(PAGE, name=" ")

    assert [one["name"] for one in alice.get("/v1/newsletters")] == ["Newsletters"]


def test_the_first_address_is_made_once_and_shown_again(reader: Visitor, alice: Person) -> None:
    reader.get(PAGE)
    shown = [reader.post(f"{PAGE}/address").headers["location"] for _ in range(2)]

    (made,) = alice.get("/v1/newsletters")
    assert shown == [f"{PAGE}#a{made['id']}"] * 2


def test_a_sender_is_blocked_and_unblocked(reader: Visitor, alice: Person) -> None:
    feed = delivered(alice, has_address(alice), message(1))["feed_id"]
    sender = senders(alice)["Tides"]
    assert f"/feeds/{feed}" in reader.page(PAGE)

    reader.post(f"{PAGE}/senders/{sender['id']}", action="block")
    assert senders(alice)["Tides"]["blocked"]
    assert "Unblock" in reader.page(PAGE)
    reader.post(f"{PAGE}/senders/{sender['id']}", action="unblock")

    assert not senders(alice)["Tides"]["blocked"]


def test_a_sender_is_renamed_with_its_feed(reader: Visitor, alice: Person) -> None:
    feed = delivered(alice, has_address(alice), message(1))["feed_id"]
    path = f"{PAGE}/senders/{senders(alice)['Tides']['id']}/edit"
    assert path in reader.page(PAGE)
    assert f'<option value="{feed}" selected>Tides</option>' in reader.page(path)

    reader.post(path, name="Tide <b> tables", feed=feed)

    assert alice.get(f"/v1/feeds/{feed}")["title"] == "Tide <b> tables"
    assert "Tide &lt;b&gt; tables" in reader.page(PAGE)


def test_senders_are_merged(reader: Visitor, alice: Person) -> None:
    address = has_address(alice)
    tides, winds = (
        delivered(alice, address, message(number, f"{name} <post@{name}.example>"))["feed_id"]
        for number, name in enumerate(("Tides", "Winds"))
    )
    path = f"{PAGE}/senders/{senders(alice)['Winds']['id']}/edit"
    assert f'<option value="{tides}">Tides</option>' in reader.page(path)

    reader.post(path, name="Winds", feed=tides)

    assert delivered(alice, address, message(3, "Winds <post@Winds.example>"))["feed_id"] == tides
    assert len(alice.entries(feed_id=winds)) == 1
    # And apart again.
    reader.post(path, name="Winds", feed=winds)
    assert senders(alice)["Winds"]["feed_id"] == winds


def test_a_sender_without_a_feed_gets_one_with_the_next_letter(reader: Visitor, alice: Person) -> None:
    address = has_address(alice)
    alice.delete(f"/v1/feeds/{delivered(alice, address, message(1))['feed_id']}")
    path = f"{PAGE}/senders/{senders(alice)['Tides']['id']}/edit"
    assert '<option value="" selected>A new feed</option>' in reader.page(path)

    reader.post(path, name="Sea", feed="")

    feed = delivered(alice, address, message(2))["feed_id"]
    assert alice.get(f"/v1/feeds/{feed}")["title"] == "Sea"


def test_what_is_wrong_with_a_sender_is_said_and_nothing_changes(reader: Visitor, alice: Person, bob: Person) -> None:
    feed = delivered(alice, has_address(alice), message(1))["feed_id"]
    his = delivered(bob, has_address(bob), message(1))["feed_id"]
    path = f"{PAGE}/senders/{senders(alice)['Tides']['id']}/edit"
    reader.get(path)

    for fields, problem in (
        ({"name": " ", "feed": feed}, "Give it a name."),
        ({"name": "Sea", "feed": his}, "not one of your feeds of newsletters"),
        ({"name": "Sea", "feed": "x"}, "x"),
    ):
        answer = reader.post(path, **fields)
        assert (answer.status, problem in answer.body.decode()) == (400, True)
    assert senders(alice)["Tides"]["feed_id"] == feed


def test_a_confirmation_stands_on_top_until_it_is_done(reader: Visitor, alice: Person) -> None:
    body = '<p>Welcome to the newsletter.</p><a href="https://tides.example/c?t=1">Confirm</a>'
    raw = message(1, "Tides <post@tides.example>", "Subject: Confirm your subscription", body=body)
    delivered(alice, has_address(alice), raw)
    page = reader.page(PAGE)
    assert page.index("https://tides.example/c?t=1") < page.index("Addresses</h2>")

    reader.post(f"{PAGE}/senders/{senders(alice)['Tides']['id']}", action="confirmed")

    assert "https://tides.example/c?t=1" not in reader.page(PAGE)


def test_one_press_unsubscribes(reader: Visitor, alice: Person, site: Publisher) -> None:
    delivered(alice, has_address(alice), message(1))
    sender = senders(alice)["Tides"]
    with alice.service.services.database.writing() as db:
        values = {"unsubscribe_url": site.serve("/leave"), "is_one_click": True}
        store.change_sender(db, alice.id, sender["id"], **values)
    assert "Unsubscribe" in reader.page(PAGE)

    reader.post(f"{PAGE}/senders/{sender['id']}/unsubscribe")

    assert [request.body for request in site.requests] == [b"List-Unsubscribe=One-Click"]
    assert senders(alice)["Tides"]["unsubscribed_at"]


def test_a_stranger_sees_and_changes_nothing(reader: Visitor, bob: Person) -> None:
    delivered(bob, has_address(bob, "Private"), message(1))
    (address,), sender = bob.get("/v1/newsletters"), senders(bob)["Tides"]

    page = reader.page(PAGE)
    assert "Private" not in page
    assert reader.get(f"{PAGE}/{address['id']}/delete").status == 404
    assert reader.get(f"{PAGE}/senders/{sender['id']}/edit").status == 404
    assert reader.post(f"{PAGE}/senders/{sender['id']}/edit", name="Mine").status == 404
    for path in (f"{address['id']}/delete", f"senders/{sender['id']}", f"senders/{sender['id']}/unsubscribe"):
        assert reader.post(f"{PAGE}/{path}", action="block").status == 404
    assert not senders(bob)["Tides"]["blocked"]
