"""The full content of an entry, fetched from its page."""

from __future__ import annotations

from typing import Any

import pytest

from support.people import Person, rss
from support.publisher import Answer, Cut, Drop, Publisher, Reply

pytestmark = pytest.mark.one_engine

SENTENCES = " ".join(f"The rain of day {day} came late, lasted long, and left by the evening." for day in range(1, 9))
STORY = "".join(f"<p>{SENTENCES}</p>" for _ in range(3))
PAGE = f"""<!DOCTYPE html><html><head><title>Rain</title></head><body>
<nav><a href="/">Home</a> <a href="/about">About us</a></nav>
<article><h1>Rain</h1>{STORY}
<p><a href="/more">More <b>rain</b></a> was promised, though nobody knew when.</p></article>
<footer>Everything reserved</footer></body></html>"""


def has_entry(person: Person, site: Publisher, page: str | Reply = PAGE, **fields: Any) -> dict[str, Any]:
    """An entry whose page is at /story of the publisher."""
    feed = person.has_feed(site, ["Rain"], **fields)
    url = site.script("/story", page if isinstance(page, Reply) else Answer(page))
    body = {"url": url, "title": "Rain", "content": "<p>What the feed says.</p>"}
    entry_id = person.post(f"/v1/feeds/{feed['id']}/entries/import", body)["id"]
    entry: dict[str, Any] = person.get(f"/v1/entries/{entry_id}")
    return entry


def fetch(person: Person, entry: dict[str, Any], **query: Any) -> dict[str, Any]:
    found: dict[str, Any] = person.get(f"/v1/entries/{entry['id']}/fetch-content", **query)
    return found


def refused(person: Person, entry: dict[str, Any], status: int = 500) -> str:
    answer = person.call("GET", f"/v1/entries/{entry['id']}/fetch-content", update_content="true")
    assert answer.status == status, answer.body
    assert person.get(f"/v1/entries/{entry['id']}")["content"] == entry["content"]
    return answer.error


@pytest.mark.slow
def test_the_article_is_returned_sanitized(alice: Person, site: Publisher) -> None:
    found = fetch(alice, has_entry(alice, site, PAGE.replace("<h1>", "<script>spy()</script><h1 onclick='x()'>")))

    assert found.keys() == {"content", "reading_time"}
    assert found["content"].count("The rain of day 3") == 3
    assert f'href="{site.url("/more")}"' in found["content"]
    for unwanted in ("About us", "reserved", "script", "spy", "onclick"):
        assert unwanted not in found["content"]
    assert found["reading_time"] == 2


@pytest.mark.parametrize("query", [{}, {"update_content": "false"}, {"update_content": "perhaps"}])
def test_the_article_is_not_stored_by_default(alice: Person, site: Publisher, query: dict[str, str]) -> None:
    entry = has_entry(alice, site)

    fetch(alice, entry, **query)

    assert alice.get(f"/v1/entries/{entry['id']}") == entry


@pytest.mark.parametrize("update_content", ["true", "1", "True"])
def test_the_article_is_stored_on_request(alice: Person, site: Publisher, update_content: str) -> None:
    entry = has_entry(alice, site)

    found = fetch(alice, entry, update_content=update_content)

    after = alice.get(f"/v1/entries/{entry['id']}")
    assert after == entry | {"content": found["content"], "reading_time": found["reading_time"]}
    assert "The rain of day 3" in after["content"]
    assert after["changed_at"] == entry["changed_at"]


def test_a_stored_article_stays_when_the_publisher_changes_the_entry(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Rain"])
    path = str(feed["feed_url"]).removeprefix(site.url(""))
    entry = alice.entries()[0]
    site.serve(f"{path}/0", PAGE)
    stored = fetch(alice, entry, update_content="true")["content"]
    site.serve(path, rss(["Rain"], feed["feed_url"]).replace("About Rain.", "All about rain."))

    alice.put(f"/v1/feeds/{feed['id']}/refresh")

    assert alice.get(f"/v1/entries/{entry['id']}")["content"] == stored


def test_the_content_of_entries_of_other_users_cannot_be_fetched(
    alice: Person, bob: Person, charlie: Person, site: Publisher
) -> None:
    entry = has_entry(alice, site)

    for stranger in (bob, charlie):
        assert stranger.call("GET", f"/v1/entries/{entry['id']}/fetch-content").status == 404
    assert alice.call("GET", "/v1/entries/2147483647/fetch-content").status == 404
    assert site.requests_for("/story") == []


@pytest.mark.parametrize("invalid_id", ["0", "-1", "x", "1.5", str(2**63)])
def test_an_invalid_id_is_refused(alice: Person, invalid_id: str) -> None:
    assert alice.call("GET", f"/v1/entries/{invalid_id}/fetch-content").status == 400


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Answer("gone", status=404), id="404"),
        pytest.param(Answer("gone for good", status=410), id="410"),
        pytest.param(Answer(PAGE, status=403), id="403"),
        pytest.param(Answer(PAGE, status=500), id="500"),
        pytest.param(Answer(), id="nothing"),
        pytest.param(Answer(" \n\t "), id="blanks"),
        pytest.param(Answer(PAGE, headers={"Content-Type": "text/plain"}), id="plain text"),
        pytest.param(Answer(b"%PDF-1.7", headers={"Content-Type": "application/pdf"}), id="a document"),
        pytest.param(Answer('{"a": 1}', headers={"Content-Type": "application/json"}), id="JSON"),
        pytest.param(Answer("just text", headers={"Content-Type": ""}), id="of no type"),
        pytest.param(Drop(), id="hung up"),
        pytest.param(Cut(PAGE, after=200), id="cut off"),
    ],
)
def test_an_unreadable_page_is_an_error_and_changes_nothing(alice: Person, site: Publisher, reply: Reply) -> None:
    entry = has_entry(alice, site, reply)

    assert refused(alice, entry)


def test_an_entry_without_a_url_has_no_page(alice: Person, site: Publisher) -> None:
    site.serve("/feed.json", '{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "title": "x"}]}')
    alice.post("/v1/feeds", {"feed_url": site.url("/feed.json")})

    assert "address" in refused(alice, alice.entries()[0])


def test_a_page_without_a_content_type_is_recognized_by_its_beginning(alice: Person, site: Publisher) -> None:
    entry = has_entry(alice, site, Answer(f"\n {PAGE}", headers={"Content-Type": ""}))

    assert "The rain of day 3" in fetch(alice, entry)["content"]


def test_xhtml_is_accepted(alice: Person, site: Publisher) -> None:
    entry = has_entry(alice, site, Answer(PAGE, headers={"Content-Type": "application/xhtml+xml"}))

    assert "The rain of day 3" in fetch(alice, entry)["content"]


@pytest.mark.parametrize(
    ("headers", "meta", "encoding"),
    [
        ("text/html; charset=windows-1251", "", "cp1251"),
        ("text/html", '<meta charset="windows-1251">', "cp1251"),
        ("text/html", '<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">', "koi8-r"),
        ("text/html", "", "utf-8"),
        ("text/html; charset=unheard-of", '<meta charset="shift_jis">', "shift_jis"),
    ],
)
def test_the_encoding_of_a_page_is_detected(
    alice: Person, site: Publisher, headers: str, meta: str, encoding: str
) -> None:
    page = PAGE.replace("<title>", f"{meta}<title>").replace("late", "поздно")
    entry = has_entry(alice, site, Answer(page.encode(encoding), headers={"Content-Type": headers}))

    assert "The rain of day 3 came поздно" in fetch(alice, entry)["content"]


@pytest.mark.parametrize(
    "page", ["<html><head><title>x</title></head><body></body></html>", "<html><script>1</script>"]
)
def test_without_an_article_the_stored_content_is_returned(alice: Person, site: Publisher, page: str) -> None:
    entry = has_entry(alice, site, page)

    found = fetch(alice, entry, update_content="true")

    assert found == {"content": entry["content"], "reading_time": entry["reading_time"]}
    assert alice.get(f"/v1/entries/{entry['id']}") == entry


def test_relative_urls_are_resolved_against_the_final_url_of_the_page(alice: Person, site: Publisher) -> None:
    entry = has_entry(alice, site)
    site.redirect("/story", to="/2026/11/rain/")
    site.serve("/2026/11/rain/", PAGE.replace('href="/more"', 'href="more"'))

    assert f'href="{site.url("/2026/11/rain/more")}"' in fetch(alice, entry)["content"]


def test_relative_urls_are_resolved_against_the_base_element(alice: Person, site: Publisher) -> None:
    page = PAGE.replace("<title>", '<base href="https://base.test/a/"><title>').replace('"/more"', '"more"')

    assert 'href="https://base.test/a/more"' in fetch(alice, has_entry(alice, site, page))["content"]


def test_the_scraper_rule_of_the_feed_selects_the_article(alice: Person, site: Publisher) -> None:
    entry = has_entry(alice, site, scraper_rules="h1, .box", rewrite_rules='remove(".ad")')
    site.serve("/story", '<h1>Rain</h1><p>Not this.</p><div class="box"><p>This.</p><p class="ad">Nor this.</p></div>')

    assert fetch(alice, entry)["content"] == "<h1>Rain</h1><p>This.</p>"


def test_a_scraper_rule_without_a_match_falls_back_to_readability(alice: Person, site: Publisher) -> None:
    entry = has_entry(alice, site, scraper_rules=".nowhere")

    assert "The rain of day 3" in fetch(alice, entry)["content"]


def test_the_scraper_rule_does_not_apply_to_other_sites(alice: Person, site: Publisher) -> None:
    entry = has_entry(alice, site, scraper_rules="nav")
    with Publisher("127.0.0.2") as elsewhere:
        site.redirect("/story", to=elsewhere.serve("/story", PAGE))

        found = fetch(alice, entry)["content"]

    assert "The rain of day 3" in found
    assert "About us" not in found


def test_the_cookie_and_user_agent_of_the_feed_are_sent(alice: Person, site: Publisher) -> None:
    entry = has_entry(alice, site, cookie="taste=sweet", user_agent="Rainreader/1")

    fetch(alice, entry)

    seen = site.requests_for("/story")[0].headers
    assert (seen["cookie"], seen["user-agent"]) == ("taste=sweet", "Rainreader/1")
    assert seen["accept"].startswith("text/html")


def test_cookie_user_agent_and_password_are_not_sent_to_other_sites(alice: Person, site: Publisher) -> None:
    private = {"cookie": "taste=sweet", "user_agent": "Rainreader/1", "username": "alice", "password": "secret"}
    feed = alice.has_feed(site, ["Rain"], **private)
    with Publisher("127.0.0.2") as elsewhere:
        url = elsewhere.serve("/story", PAGE)
        entry = alice.post(f"/v1/feeds/{feed['id']}/entries/import", {"url": url})

        fetch(alice, entry)

        seen = elsewhere.last.headers
    assert "cookie" not in seen
    assert "authorization" not in seen
    assert "Rainreader" not in seen["user-agent"]


def test_a_self_signed_certificate_is_accepted_if_the_feed_allows_it(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Rain"])
    with Publisher(tls=True) as secure:
        url = secure.serve("/story", PAGE)
        created = alice.post(f"/v1/feeds/{feed['id']}/entries/import", {"url": url})
        entry = alice.get(f"/v1/entries/{created['id']}")
        assert refused(alice, entry)

        alice.put(f"/v1/feeds/{feed['id']}", {"allow_self_signed_certificates": True}, status=201)

        assert "The rain of day 3" in fetch(alice, entry)["content"]


def test_an_episode_keeps_its_duration(alice: Person, site: Publisher) -> None:
    channel = (
        f"<title>Cast</title><item><title>Rain</title><guid>1</guid><link>{site.script('/story', Answer(PAGE))}</link>"
        "<itunes:duration>45:00</itunes:duration>"
        '<enclosure url="https://a.example/1.mp3" length="1" type="audio/mpeg"/>'
        "</item>"
    )
    document = f'<rss xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>{channel}</channel></rss>'
    alice.post("/v1/feeds", {"feed_url": site.serve("/cast.xml", document)})
    (entry,) = alice.entries()
    assert entry["reading_time"] == 45

    fetch(alice, entry, update_content="true")

    assert "The rain of day 3" in alice.get(f"/v1/entries/{entry['id']}")["content"]
    assert alice.get(f"/v1/entries/{entry['id']}")["reading_time"] == 45


def test_the_reading_time_is_returned_only_if_the_user_enabled_it(alice: Person, site: Publisher) -> None:
    entry = has_entry(alice, site)
    alice.put(f"/v1/users/{alice.id}", {"show_reading_time": False}, status=201)

    assert fetch(alice, entry, update_content="true")["reading_time"] == 0
    assert alice.get(f"/v1/entries/{entry['id']}")["reading_time"] == 0

    alice.put(f"/v1/users/{alice.id}", {"show_reading_time": True}, status=201)
    assert alice.get(f"/v1/entries/{entry['id']}")["reading_time"] == 2


def test_the_content_of_the_feed_takes_turns_with_the_article(alice: Person, bob: Person, site: Publisher) -> None:
    entry = has_entry(alice, site)
    path = f"/v1/entries/{entry['id']}/switch-content"
    assert alice.call("PUT", path).status == 400
    article = fetch(alice, entry, update_content="true")["content"]

    assert bob.call("PUT", path).status == 404
    alice.put(path)
    assert alice.get(f"/v1/entries/{entry['id']}")["content"] == entry["content"]
    alice.put(path)
    assert alice.get(f"/v1/entries/{entry['id']}")["content"] == article
