"""What the sidebar reads and counts."""

from __future__ import annotations

from support.many_feeds import add_feeds
from support.people import Person
from tidings.web.sidebar import MAX_UNFOLDED_FEEDS, Sidebar, SidebarState


def test_counts_are_those_of_the_feeds(alice: Person, bob: Person) -> None:
    ids = add_feeds(alice, 3, 4, unread_every=2)
    add_feeds(bob, 1, 5, unread_every=1)
    services = alice.service.services
    hidden_category = services.feeds.categories.create(alice.id, "Hidden", hide_globally=True).id
    alice.put(f"/v1/feeds/{ids['Feed 0-0']}", {"hide_globally": True}, status=201)
    alice.put(f"/v1/feeds/{ids['Feed 1-0']}", {"category_id": hidden_category}, status=201)
    starred = alice.get("/v1/entries", feed_id=ids["Feed 2-0"])["entries"][0]["id"]
    alice.put(f"/v1/entries/{starred}/bookmark")
    alice.put("/v1/entries", {"entry_ids": [starred], "status": "read"})

    sidebar = Sidebar(services, alice.user)
    by_title = {line.category.title: line.counts for line in sidebar.categories}

    assert sidebar.feed_count == len(sidebar.feeds) == 12
    assert (sidebar.unread, sidebar.starred, sidebar.read) == (3, 1, 1)
    assert {title: (counts.feeds, counts.unread_feeds, counts.unread) for title, counts in by_title.items()} == {
        "All": (0, 0, 0), "Category 00": (4, 2, 2), "Category 01": (3, 1, 1), "Category 02": (4, 1, 1),
        "Hidden": (1, 1, 1),
    }  # fmt: skip
    assert Sidebar(services, bob.user).feeds_by_id(ids.values()) == {}
    assert Sidebar(services, bob.user).feeds_of([hidden_category]) == {hidden_category: []}


def test_only_feeds_of_open_groups_are_read_when_there_are_many(alice: Person) -> None:
    ids = add_feeds(alice, 5, MAX_UNFOLDED_FEEDS, unread_every=3)
    sidebar = Sidebar(alice.service.services, alice.user)
    current = sidebar.feed(ids["Feed 3-7"])
    assert current

    groups = sidebar.groups(SidebarState(only_unread=True), current.id, current.category_id)

    assert "feeds" not in vars(sidebar)
    assert [(group.is_open, len(group.feeds), group.after) for group in groups] == [
        (False, 0, 40), (False, 0, 40), (False, 0, 40), (True, 41, 0), (False, 0, 40)
    ]  # fmt: skip
