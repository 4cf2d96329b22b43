"""Saved views that apps of the Google Reader API see as labels."""

from __future__ import annotations

from greader.apps import READ, READING_LIST, App, label
from support.people import Person
from support.publisher import Publisher


def titles(app: App, stream: str, **more: str) -> list[str]:
    return [item["title"] for item in app.get(f"stream/contents/{stream}", more)["items"]]


def ids(app: App, stream: str, **more: str) -> int:
    return len(app.get("stream/items/ids", {"s": stream, "n": "100", **more})["itemRefs"])


def test_a_view_is_a_label_if_its_user_says_so(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Heavy rain", "Rain", "Snow"])
    view = alice.post("/v1/views", {"name": "Wet", "query": "rain"})["id"]
    app = App(alice).sign_in()
    wet = label("wet")
    assert app.call("GET", f"stream/contents/{wet}").status == 404
    alice.put(f"/v1/views/{view}", {"in_apps": True}, status=201)

    assert {"id": label("Wet"), "type": "tag", "unread_count": 2} in app.get("tag/list")["tags"]
    counts = {one["id"]: one["count"] for one in app.get("unread-count")["unreadcounts"]}
    assert counts[label("Wet")] == 2
    assert sorted(titles(app, wet)) == ["Heavy rain", "Rain"]
    assert titles(app, wet, q="heavy") == ["Heavy rain"]
    assert titles(app, READING_LIST, xt=wet) == ["Snow"]
    assert ids(app, READING_LIST, it=wet) == 2
    assert ids(app, wet, xt=READ) == 2
    assert app.call("GET", "stream/items/count", query={"s": wet}).body == b"2"
    first = app.get("stream/items/ids", {"s": wet, "n": "1"})
    assert len(app.get("stream/items/ids", {"s": wet, "n": "1", "c": first["continuation"]})["itemRefs"]) == 1


def test_marking_a_view_read_leaves_the_others(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Heavy rain", "Rain", "Snow", "Hail"])
    for name, query in (("Wet", "rain"), ("Cold", "snow")):
        alice.post("/v1/views", {"name": name, "query": query, "in_apps": True})
    app = App(alice).sign_in()

    assert app.call("POST", "mark-all-as-read", {"s": label("Wet"), "ts": "1000000000"}).status == 200
    assert ids(app, label("Wet"), xt=READ) == 2
    assert app.call("POST", "mark-all-as-read", {"s": label("Wet")}).status == 200
    assert sorted(entry["title"] for entry in alice.entries(status="unread")) == ["Hail", "Snow"]
    assert app.call("POST", "mark-all-as-read", [("s", label("Wet")), ("s", label("Cold"))]).status == 200
    assert [entry["title"] for entry in alice.entries(status="unread")] == ["Hail"]


def test_the_name_of_a_view_is_not_given_to_entries(alice: Person, bob: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Rain"])
    alice.post("/v1/views", {"name": "Wet", "query": "rain", "in_apps": True})
    app = App(alice).sign_in()

    app.call("POST", "edit-tag", {"i": str(alice.entries()[0]["id"]), "a": label("WET")})
    assert alice.get("/v1/labels") == []
    alice.post("/v1/categories", {"title": "wet"})
    assert titles(app, label("Wet")) == []
    assert App(bob).sign_in().call("GET", f"stream/contents/{label('Wet')}").status == 404
