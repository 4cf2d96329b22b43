"""Discovery of feeds on sites."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from support.people import HttpResponse, Person, rss
from support.publisher import Answer, Drip, Drop, Hang, Publisher, ReceivedRequest

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><title>An Atom feed</title></feed>'
RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"></rdf:RDF>'
JSON_FEED = '{"version": "https://jsonfeed.org/version/1.1", "title": "A JSON feed", "items": []}'


def rss_feed(title: str = "A feed") -> str:
    return rss(["One"], "http://example.org", title=title)


def discover(person: Person, url: str, **more: Any) -> HttpResponse:
    return person.call("POST", "/v1/discover", {"url": url, **more})


def found(person: Person, url: str, **more: Any) -> list[dict[str, str]]:
    answer = discover(person, url, **more)
    assert answer.status == 200, answer.body
    result: list[dict[str, str]] = answer.json()
    return result


def link(href: str, type_: str = "application/rss+xml", title: str = "") -> str:
    named = f' title="{title}"' if title else ""
    return f'<link rel="alternate" type="{type_}" href="{href}"{named}>'


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (rss_feed(), "rss"),
        (ATOM, "atom"),
        (RDF, "rdf"),
        (JSON_FEED, "json"),
        (rss_feed()[:200], "rss"),
    ],
)
def test_discovery_of_a_feed_url_returns_that_feed(alice: Person, site: Publisher, body: str, kind: str) -> None:
    url = site.serve("/feed", body)

    assert found(alice, url) == [{"url": url, "title": url, "type": kind}]


def test_a_redirected_feed_is_returned_with_its_final_url(alice: Person, site: Publisher) -> None:
    site.redirect("/old", to="/new", status=302)
    url = site.serve("/new", rss_feed())

    assert found(alice, site.url("/old")) == [{"url": url, "title": url, "type": "rss"}]


def test_links_come_in_document_order_once_with_their_titles(alice: Person, site: Publisher) -> None:
    page = link("/b", title="B") + link("a", "Application/Atom+XML; charset=utf-8") + link("/b", title="B again")
    site.serve("/blog/", f"<html><head>{page}</head></html>")

    assert found(alice, site.url("/blog/")) == [
        {"url": site.url("/b"), "title": "B", "type": "rss"},
        {"url": site.url("/blog/a"), "title": site.url("/blog/a"), "type": "atom"},
    ]


def test_a_feed_without_title_attribute_is_called_by_its_own_title(alice: Person, site: Publisher) -> None:
    site.serve("/", link("/a") + link("/b", title="Comments"))
    site.serve("/a", rss_feed("Nicely named"))
    site.serve("/b", rss_feed("Other"))

    assert [one["title"] for one in found(alice, site.url("/"))] == ["Nicely named", "Comments"]


def test_the_type_is_detected_from_the_body(alice: Person, site: Publisher) -> None:
    site.serve("/", link("/a"))
    site.serve("/a", ATOM)

    assert [one["type"] for one in found(alice, site.url("/"))] == ["atom"]


def test_a_declared_feed_that_turns_out_to_be_a_page_is_left_out(alice: Person, site: Publisher) -> None:
    site.serve("/", link("/page") + link("/feed"))
    site.serve("/page", "<!doctype html><title>Not a feed</title>")
    site.serve("/feed", rss_feed())

    assert [one["url"] for one in found(alice, site.url("/"))] == [site.url("/feed")]


def test_base_and_canonical_are_respected(alice: Person, site: Publisher) -> None:
    site.serve("/x/", f'<base href="/y/"><link rel="canonical" href="/z/">{link("feed")}')

    assert [one["url"] for one in found(alice, site.url("/x/"))] == [site.url("/y/feed")]


def test_common_paths_are_tried_next_to_the_canonical_url(alice: Person, site: Publisher) -> None:
    site.serve("/x/", '<link rel="canonical" href="/z/">')
    site.serve("/z/rss.xml", rss_feed())

    assert [one["url"] for one in found(alice, site.url("/x/"))] == [site.url("/z/rss.xml")]


def test_the_rest_api_of_wordpress_is_no_feed(alice: Person, site: Publisher) -> None:
    site.serve("/", link("/wp-json/wp/v2/posts", "application/json"))
    site.serve("/wp-json/wp/v2/posts", '{"id": 1}')

    assert discover(alice, site.url("/")).status == 404


def test_any_other_json_is_no_feed(alice: Person, site: Publisher) -> None:
    site.serve("/data", '{"foo": 1}')

    assert discover(alice, site.url("/data")).status == 404


def test_links_on_the_page_that_are_feeds_are_found(alice: Person, site: Publisher) -> None:
    anchors = '<a href="/news.rss">News</a><a href="/rss">How to use RSS</a><a href="/gone/feed">Old feed</a>'
    site.serve("/", f"<body>{link('/main', title='Main')}{anchors}</body>")
    site.serve("/main", rss_feed("Main"))
    site.serve("/news.rss", rss_feed("News of the day"))
    site.serve("/rss", "<html>RSS is a format.</html>")

    assert found(alice, site.url("/")) == [
        {"url": site.url("/main"), "title": "Main", "type": "rss"},
        {"url": site.url("/news.rss"), "title": "News of the day", "type": "rss"},
    ]


@pytest.mark.parametrize("path", ["/feed.xml", "/atom.xml", "/rss/", "/blog/index.xml", "/blog/feed/", "/feed.json"])
def test_common_paths_are_tried(alice: Person, site: Publisher, path: str) -> None:
    site.serve("/blog/", "<html><body>Nothing to see</body></html>")
    site.serve(path, JSON_FEED if path.endswith("json") else rss_feed("Found"))

    answer = found(alice, site.url("/blog/"))

    assert answer[0]["url"] == site.url(path)
    assert answer[0]["title"] in ("Found", "A JSON feed")


def test_an_html_page_at_a_common_path_is_no_feed(alice: Person, site: Publisher) -> None:
    everything = "<!doctype html><title>Everything looks like this here</title>"
    for path in ("/", "/feed", "/feed/", "/feed.xml", "/rss.xml", "/atom.xml", "/index.xml", "/rss", "/rss/"):
        site.serve(path, everything)

    assert discover(alice, site.url("/")).status == 404


def test_the_same_feed_at_several_common_paths_is_returned_once(alice: Person, site: Publisher) -> None:
    site.serve("/", "<p>Hello</p>")
    for path in ("/feed", "/feed/", "/rss.xml"):
        site.serve(path, rss_feed())

    assert [one["url"] for one in found(alice, site.url("/"))] == [site.url("/feed")]


def test_common_paths_are_requested_concurrently_within_a_limit(alice: Person, site: Publisher) -> None:
    site.serve("/", "<p>Hello</p>")
    for path in ("/feed", "/feed/", "/feed.xml", "/rss.xml", "/atom.xml"):
        site.serve(path, "no", status=404, after_s=0.5)
    site.serve("/index.xml", rss_feed(), after_s=0.5)

    assert len(found(alice, site.url("/"))) == 1
    # One after the other would go over one connection that is kept open.
    assert 3 <= site.connections <= 8


def test_a_slow_candidate_does_not_delay_the_others(patient_alice: Person, site: Publisher) -> None:
    site.serve("/", link("/slow", title="Slow") + link("/fast", title="Fast"))
    site.script("/slow", Hang())
    site.serve("/fast", rss_feed())

    assert [one["title"] for one in found(patient_alice, site.url("/"))] == ["Slow", "Fast"]


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "example.org",
        "/feed",
        "ftp://example.org/",
        "http://",
        "http://[x/",
        "http://example.org:0/",
        "javascript:alert(1)",
        "http://a\0b/",
    ],
)
def test_a_url_that_is_not_http_is_400(alice: Person, url: str | None) -> None:
    answer = alice.call("POST", "/v1/discover", {"url": url})

    assert answer.status == 400
    assert "url" in answer.error


@pytest.mark.parametrize("body", [{}, {"url": 5}, {"url": "http://example.org/", "username": 5}])
def test_an_invalid_body_is_400(alice: Person, body: object) -> None:
    assert alice.call("POST", "/v1/discover", body).status == 400


@pytest.mark.parametrize("proxy_url", ["proxy", "/proxy", "ftp://proxy.example/", "http://"])
def test_an_invalid_proxy_is_400(alice: Person, site: Publisher, proxy_url: str) -> None:
    answer = discover(alice, site.serve("/feed", rss_feed()), proxy_url=proxy_url)

    assert answer.status == 400
    assert "proxy_url" in answer.error
    assert site.requests == []


def test_a_page_that_cannot_be_fetched_is_500(alice: Person, site: Publisher) -> None:
    site.serve("/empty", "")
    site.serve("/forbidden", "no", status=403)
    site.serve("/locked", "no", status=401)
    site.script("/dropped", Drop())

    for url in [
        *(site.url(path) for path in ("/empty", "/forbidden", "/locked", "/dropped", "/missing")),
        "http://127.0.0.1:1/",
        "http://nowhere.invalid/",
    ]:
        answer = discover(alice, url)
        assert answer.status == 500, url
        assert answer.error


def test_a_page_without_feeds_is_404(alice: Person, site: Publisher) -> None:
    site.serve("/", "<p>Nothing here</p>")

    answer = discover(alice, site.url("/"))

    assert answer.status == 404
    assert answer.error


def test_discovery_stores_nothing(alice: Person, site: Publisher) -> None:
    found(alice, site.serve("/feed", rss_feed()))

    assert alice.get("/v1/feeds") == []


def locked(seen: ReceivedRequest) -> Answer:
    """Require the credentials me:secret."""
    wanted = "Basic " + base64.b64encode(b"me:secret").decode()
    return Answer(rss_feed()) if seen.headers.get("authorization") == wanted else Answer("no", status=401)


def test_credentials_and_user_agent_are_sent(alice: Person, site: Publisher) -> None:
    url = site.script("/feed", locked)

    assert discover(alice, url).status == 500
    assert discover(alice, url, username="me", password="wrong").status == 500
    assert found(alice, url, username="me", password="secret", user_agent="Mine", cookie="a=b")
    assert site.last.headers["user-agent"] == "Mine"
    assert site.last.headers["cookie"] == "a=b"


def test_credentials_in_the_url_are_used_and_not_shown(alice: Person, site: Publisher) -> None:
    url = site.script("/feed", locked)

    assert found(alice, url.replace("://", "://me:secret@"))[0]["url"] == url


def test_credentials_are_not_sent_to_other_hosts(alice: Person, site: Publisher) -> None:
    with Publisher("127.0.0.2") as other:
        other.serve("/feed", rss_feed())
        site.serve("/", link(other.url("/feed")) + link("/own"))
        site.serve("/own", ATOM)

        found(alice, site.url("/"), username="me", password="secret", cookie="a=b", user_agent="Mine")

        (seen,) = other.requests_for("/feed")
        assert not {"authorization", "cookie"} & seen.headers.keys()
        assert seen.headers["user-agent"] != "Mine"
        assert site.requests_for("/own")[0].headers["cookie"] == "a=b"


def test_subscribing_to_what_was_just_discovered_does_not_fetch_it_again(alice: Person, site: Publisher) -> None:
    site.serve("/", link("/feed"))
    site.serve("/feed", rss_feed(), etag='"1"')
    (one,) = found(alice, site.url("/"))

    created = alice.post("/v1/feeds", {"feed_url": one["url"]})

    assert len(site.requests_for("/feed")) == 1
    feed = alice.get(f"/v1/feeds/{created['feed_id']}")
    assert (feed["title"], feed["feed_url"], feed["etag_header"]) == ("A feed", site.url("/feed"), '"1"')
    assert [entry["title"] for entry in alice.entries()] == ["One"]


def test_subscribing_to_a_discovered_feed_url_does_not_fetch_it_again(alice: Person, site: Publisher) -> None:
    site.redirect("/old", to="/feed")
    site.serve("/feed", rss_feed())
    (one,) = found(alice, site.url("/old"))

    alice.post("/v1/feeds", {"feed_url": one["url"]})

    assert len(site.requests_for("/feed")) == 1


def test_a_fetched_document_is_not_reused_for_another_user(alice: Person, bob: Person, site: Publisher) -> None:
    url = site.script("/feed", locked)
    found(alice, url, username="me", password="secret")

    assert bob.call("POST", "/v1/feeds", {"feed_url": url}).status == 500
    assert alice.call("POST", "/v1/feeds", {"feed_url": url}).status == 500
    alice.post("/v1/feeds", {"feed_url": url, "username": "me", "password": "secret"})


def test_a_discovered_feed_is_only_reused_once(alice: Person, site: Publisher) -> None:
    url = site.serve("/feed", rss_feed())
    found(alice, url)
    first = alice.post("/v1/feeds", {"feed_url": url})
    alice.delete(f"/v1/feeds/{first['feed_id']}")

    alice.post("/v1/feeds", {"feed_url": url})

    assert len(site.requests_for("/feed")) == 2


def test_the_number_of_candidates_of_a_page_is_limited(alice: Person, site: Publisher) -> None:
    site.serve("/", "".join(link(f"/tag/{n}", title=f"Tag {n}") for n in range(500)))

    answer = found(alice, site.url("/"))

    assert [one["title"] for one in answer[:2]] == ["Tag 0", "Tag 1"]
    assert len(site.requests) < 40


def test_a_candidate_that_responds_byte_by_byte_does_not_delay_the_response(
    patient_alice: Person, site: Publisher
) -> None:
    site.serve("/", link("/drip", title="Drip"))
    site.script("/drip", Drip(rss_feed(), every_s=1))

    assert [one["title"] for one in found(patient_alice, site.url("/"))] == ["Drip"]


def test_the_answer_is_json_with_three_fields(alice: Person, site: Publisher) -> None:
    answer = discover(alice, site.serve("/feed", rss_feed()))

    assert answer.headers["content-type"] == "application/json"
    assert [sorted(one) for one in json.loads(answer.body)] == [["title", "type", "url"]]


def test_feeds_in_the_link_header_are_found(alice: Person, site: Publisher) -> None:
    url = site.serve("/real.xml", rss_feed())
    header = '<style.css>; rel=preload, </real.xml>; title="x, y"; rel="alternate home"; type="application/rss+xml"'
    site.serve("/", "<p>Hello", headers={"Link": header})

    assert found(alice, site.url("/")) == [{"url": url, "title": "x, y", "type": "rss"}]


def test_a_page_that_leads_browsers_to_another_one_has_the_feeds_of_that_page(alice: Person, site: Publisher) -> None:
    url = site.serve("/blog/real.xml", rss_feed())
    site.serve("/", '<meta http-equiv="refresh" content="0; url=/start">')
    site.serve("/start", '<meta http-equiv="refresh" content="0; url=/blog/">')
    site.serve("/blog/", link("real.xml", title="News"))

    assert found(alice, site.url("/")) == [{"url": url, "title": "News", "type": "rss"}]


def test_pages_that_lead_browsers_in_a_circle_have_no_feeds(alice: Person, site: Publisher) -> None:
    site.serve("/", '<meta http-equiv="refresh" content="0; url=/start">')
    site.serve("/start", '<meta http-equiv="refresh" content="0; url=/">')

    assert discover(alice, site.url("/")).status == 404
    assert sum(seen.path in ("/", "/start") for seen in site.requests) < 10


def test_a_declared_feed_that_is_dead_gives_way_to_one_that_works(alice: Person, site: Publisher) -> None:
    site.serve("/", link("/dead.xml", title="Old"))
    url = site.serve("/feed.xml", rss_feed("News"))

    assert found(alice, site.url("/")) == [{"url": url, "title": "News", "type": "rss"}]


def test_feeds_of_comments_come_last(alice: Person, site: Publisher) -> None:
    for path in ("/comments/feed/", "/feed/"):
        site.serve(path, rss_feed(path))
    site.serve("/", link("/comments/feed/") + link("/feed/"))

    assert [feed["title"] for feed in found(alice, site.url("/"))] == ["/feed/", "/comments/feed/"]
