"""What an archive has of the lists that a user follows: they go on in the other account."""

from __future__ import annotations

from live_opml.test_lists import by_url, check, feed_urls, follow, opml
from newsletters.test_archives import exported, imported
from support.people import Person
from support.publisher import Publisher

LISTS = "/v1/opml-subscriptions"


def test_a_list_goes_on_in_another_account(alice: Person, bob: Person, site: Publisher) -> None:
    urls = feed_urls(site, "tides", "winds", "waves")
    alice.post("/v1/feeds", {"feed_url": urls[1]}, status=201)
    followed = follow(alice, site, *urls)
    site.serve("/blogroll.opml", opml(*urls[1:]))
    check(alice, followed)
    archive = exported(alice)

    assert imported(bob, archive).problems == []
    assert imported(bob, archive).problems == []

    (shown,) = bob.get(LISTS)
    assert (shown["url"], shown["feed_count"]) == (followed["url"], 2)
    # The list has dropped one of its feeds: bob is asked, as alice is.
    assert [one["feed_url"] for one in shown["removals"]] == [urls[0]]
    bob.delete(f"/v1/feeds/{by_url(bob)[urls[2]]['id']}")
    check(bob, shown)
    assert urls[2] not in by_url(bob)
    assert len(by_url(alice)) == 3


def test_a_list_that_cannot_be_followed_is_named(alice: Person, bob: Person, site: Publisher) -> None:
    follow(alice, site, *feed_urls(site, "tides"))
    archive = exported(alice)
    database = bob.service.services.database
    with database.writing() as db:
        from tidings.live_opml import store
        from tidings.storage.feeds import categories

        (category, *_) = categories.list_all(db, bob.id)
        times = {"created_at": 1, "checked_at": 1, "next_check_at": 2**53}
        for number in range(20):
            store.add(db, bob.id, url=f"https://lists.example/{number}", category_id=category.id, **times)

    (problem,) = imported(bob, archive).problems

    assert problem.startswith("list http://")
    assert "20 lists already" in problem
    assert len(bob.get(LISTS)) == 20
