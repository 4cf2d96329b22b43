"""The page of live OPML."""

from __future__ import annotations

from live_opml.test_lists import PATH, by_url, check, feed_urls, opml, star_an_entry
from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor

PAGE = "/opml-subscriptions"


def test_a_list_is_followed_and_left(reader: Visitor, alice: Person, site: Publisher) -> None:
    urls = feed_urls(site, "a", "b")
    typed = site.serve(PATH, opml(*urls)).removeprefix("http://")
    assert "You follow no list yet." in reader.page(PAGE)

    reader.post(PAGE, url=typed)

    page = reader.page(PAGE)
    assert "2 feeds were added for it." in page
    assert ">Harbour</a>" in page
    (followed,) = alice.get("/v1/opml-subscriptions")
    reader.post(f"{PAGE}/{followed['id']}/refresh")
    reader.post(f"{PAGE}/{followed['id']}/end")
    assert alice.get("/v1/opml-subscriptions") == []
    assert {*by_url(alice)} == {*urls}


def test_an_address_that_is_no_list_stays_in_the_form(reader: Visitor, site: Publisher) -> None:
    url = site.serve(PATH, "<html></html>")
    reader.get(PAGE)

    answer = reader.post(PAGE, url=url)

    assert answer.status == 400
    assert "not an OPML document" in answer.body.decode()
    assert f'value="{url}"' in answer.body.decode()


def test_feeds_are_kept_or_deleted_after_a_question(reader: Visitor, alice: Person, site: Publisher) -> None:
    a, b, c = feed_urls(site, "a", "b", "c")
    site.serve(PATH, opml(a, b, c))
    reader.get(PAGE)
    reader.post(PAGE, url=site.url(PATH))
    (followed,) = alice.get("/v1/opml-subscriptions")
    ids = {url: str(one["id"]) for url, one in by_url(alice).items()}
    star_an_entry(alice, int(ids[a]))
    site.serve(PATH, opml(c))
    check(alice, followed)
    assert "1 starred entry" in reader.page(PAGE)
    path = f"{PAGE}/{followed['id']}/removals"

    reader.post(path, feed=ids[b], action="keep")
    refused = reader.post(path, feed=ids[a], action="remove")

    assert "starred entries" in reader.follow(refused)
    assert {*by_url(alice)} == {a, b, c}
    reader.post(path, feed=ids[a], action="remove", with_starred="1")
    assert {*by_url(alice)} == {b, c}
    assert alice.get("/v1/opml-subscriptions")[0]["removals"] == []
