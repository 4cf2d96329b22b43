"""One feed: what may be set on it, rules tried before they are kept, and a check right now."""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import urlsplit

import pytest

from support.people import Person, rss
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.domain.feeds.feed_changes import WAYS
from tidings.domain.feeds.feed_settings import SWITCHES
from tidings.storage.feeds import feeds
from tidings.wiring.services import AllServices


def fields(page: str) -> dict[str, Any]:
    """What the form of the page would send as it is, with its filters as text."""
    form = page.partition('class="form groups"')[2].partition("</form>")[0]
    found: dict[str, Any] = {}
    for tag in re.findall(r"<input [^>]*>", form):
        given = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if given.get("type") != "checkbox" or " checked" in tag:
            found[given["name"]] = html.unescape(given.get("value", ""))
    for name, text in re.findall(r'<textarea [^>]*name="(\w+)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL):
        found[name] = html.unescape(text)
    for name, options in re.findall(r'<select [^>]*name="(\w+)">(.*?)</select>', form, re.DOTALL):
        found[name] = re.findall(r'<option value="([^"]*)" selected>', options + '<option value="" selected>')[0]
    rows = re.compile("(?:block|keep)(?:list)?_(?:mode|field|how|value)")
    return {name: value for name, value in found.items() if not rows.fullmatch(name)}


def error(page: str, field: str) -> str:
    match = re.search(rf'id="error-{field}">(.*?)</p>', page, re.DOTALL)
    return html.unescape(match[1]) if match else ""


WHOLE: dict[str, Any] = {
    "title": "My title",
    "site_url": "https://example.org/<site>",
    "description": "Words",
    "user_agent": "Mine/1.0",
    "cookie": "a=b",
    "username": "me",
    "password": 'p"ss',
    "proxy_url": "http://proxy.example.org:8080",
    "webhook_url": "http://127.0.0.1:9/hook",
    "scraper_rules": "article",
    "rewrite_rules": "add_image_title",
    "urlrewrite_rules": 'rewrite("^http:(.*)$"|"https:$1")',
    "blocklist_rules": "(?i)ads",
    "keeplist_rules": ".*",
    "block_filter_entry_rules": "EntryTitle=a\nEntryTitle=b",
    "keep_filter_entry_rules": "EntryTitle=.",
    **dict.fromkeys(SWITCHES, True),
    "check_interval_minutes": 90,
    "keep_read_days": 7,
    "keep_unread_days": -1,
}


@pytest.mark.parametrize("other_way", WAYS)
def test_all_settings_are_stored_and_shown(reader: Visitor, alice: Person, site: Publisher, other_way: str) -> None:
    whole = {name: value for name, value in WHOLE.items() if name != other_way}
    feed = alice.has_feed(site)
    category = alice.has_category("Elsewhere")
    path = f"/feeds/{feed['id']}/edit"
    given = fields(reader.page(path)) | {name: 1 if value is True else value for name, value in whole.items()}
    given |= {"category_id": category["id"], "csrf": reader.token}

    message = reader.follow(reader.post(path, **given))

    assert "Saved." in message
    stored = alice.get(f"/v1/feeds/{feed['id']}")
    assert {name: stored[name] for name in whole} == whole
    assert not stored[other_way]
    assert stored["category"]["id"] == category["id"]
    reloaded = fields(message)
    for name, value in (whole | {"password": ""}).items():
        assert reloaded[name] == ("1" if value is True else str(value)), name


def test_the_password_of_a_feed_is_not_shown_and_stays_until_it_is_changed(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    feed = alice.has_feed(site)
    path = f"/feeds/{feed['id']}/edit"

    def save(**given: str) -> str:
        reader.follow(reader.post(path, **fields(reader.page(path)) | {"csrf": reader.token} | given))
        return str(alice.get(f"/v1/feeds/{feed['id']}")["password"])

    assert save(password="hunter22") == "hunter22"
    assert "hunter22" not in reader.page(path)
    assert save(user_agent="Mine/2.0") == "hunter22"
    assert save(password="other") == "other"
    assert save(forget_password="1") == ""


def test_unchanged_settings_are_not_written(
    reader: Visitor, alice: Person, site: Publisher, services: AllServices
) -> None:
    feed = alice.has_feed(site)
    path = f"/feeds/{feed['id']}/edit"

    reader.post(path, **fields(reader.page(path)) | {"hide_globally": "1", "csrf": reader.token})

    with services.reading() as db:
        stored = feeds.get(db, alice.id, feed["id"])
    assert stored is not None
    # Its title still follows the publisher.
    assert (stored.hide_globally, stored.edited) == (True, 0)


@pytest.mark.parametrize(
    ("field", "given", "message"),
    [
        ("title", " ", "A feed needs one"),
        ("feed_url", "nowhere", "complete address"),
        ("proxy_url", "ftp://x", "complete address"),
        ("check_interval_minutes", "often", "whole number"),
        ("check_interval_minutes", "1", "5 to 43,200"),
        ("keep_read_days", "0", "36,500"),
        ("category_id", "99999999", "There is no category"),
        ("webhook_url", "hook", "complete address"),
        ("block_filter_entry_rules", "EntryTitle=ok\nEntryTitel=x", "Rule 2: There is no field 'EntryTitel'"),
        ("rewrite_rules", "no_such_rule", "Rule 1"),
        ("scraper_rules", "a[", "selector"),
        ("blocklist_rules", "(", "expression"),
    ],
)
def test_an_error_is_shown_next_to_its_field_and_the_input_is_kept(
    reader: Visitor, alice: Person, site: Publisher, field: str, given: str, message: str
) -> None:
    feed = alice.has_feed(site)
    path = f"/feeds/{feed['id']}/edit"
    before = alice.get(f"/v1/feeds/{feed['id']}")

    typed = {"cookie": "a=b", "password": "hunter22"}
    answer = reader.post(path, **fields(reader.page(path)) | typed | {field: given, "csrf": reader.token})
    page = answer.body.decode()

    assert answer.status == 400
    assert message in error(page, field)
    if field != "category_id":
        assert fields(page)[field] == given
    assert {name: fields(page)[name] for name in typed} == typed
    assert answer.headers["cache-control"] == "no-store"
    assert alice.get(f"/v1/feeds/{feed['id']}") == before


def test_everything_that_is_wrong_is_shown_at_once(reader: Visitor, alice: Person, site: Publisher) -> None:
    path = f"/feeds/{alice.has_feed(site)['id']}/edit"
    wrong = {
        "title": " ",
        "feed_url": "example",
        "check_interval_minutes": "often",
        "rewrite_rules": "no_such_rule",
        "cookie": "a\nb",
        "proxy_url": "proxy",
        "webhook_url": "hook",
    }

    page = reader.post(path, **fields(reader.page(path)) | wrong | {"csrf": reader.token}).body.decode()

    assert [name for name in wrong if not error(page, name)] == []
    assert re.findall(r'name="(\w+)" aria-invalid="true" autofocus', page) == ["title"]


def test_every_invalid_rule_is_named(reader: Visitor, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    path = f"/feeds/{feed['id']}/edit"
    rules = "Nothing\nEntryTitle=fine\nEntryURL=("

    page = reader.post(
        path, **fields(reader.page(path)) | {"keep_filter_entry_rules": rules, "csrf": reader.token}
    ).body.decode()

    assert "Rule 1: " in error(page, "keep_filter_entry_rules")
    assert "Rule 3: " in error(page, "keep_filter_entry_rules")


def test_a_rule_preview_uses_stored_entries_and_changes_nothing(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    feed = alice.has_feed(site, ("Rain tomorrow", "Buy this", "River news"))
    path = f"/feeds/{feed['id']}"
    rules = {
        "block_filter_entry_rules": "EntryTitle=(?i)^buy",
        "rewrite_rules": 'replace_title("River"|"Stream"),replace("About River"|"All about <b>a river</b>")',
    }
    before = alice.entries()

    page = html.unescape(
        reader.post(f"{path}/try", **fields(reader.page(f"{path}/edit")) | rules | {"csrf": reader.token}).body.decode()
    )

    assert "Of the newest 3 entries:" in page
    assert "1 blocked, 1 changed" in page
    assert "feed block rule 1: EntryTitle=(?i)^buy" in page
    assert "<del>River news</del> <ins>Stream news</ins>" in page
    assert "All about a river" in page
    assert fields(page)["block_filter_entry_rules"] == rules["block_filter_entry_rules"]
    assert alice.entries() == before
    assert alice.get(f"/v1{path}")["block_filter_entry_rules"] == ""


def test_rules_that_cannot_be_used_are_left_out_of_the_preview(reader: Visitor, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    reader.get(f"/feeds/{feed['id']}/edit")

    answer = reader.post(f"/feeds/{feed['id']}/try", block_filter_entry_rules="EntryTitle=One\nWrong")
    page = answer.body.decode()

    assert "1 blocked, 0 changed" in page
    assert "Rule 2: " in error(page, "block_filter_entry_rules")


@pytest.mark.slow
def test_a_try_of_rules_without_end_says_how_many_entries_are_left(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    feed = alice.has_feed(site)
    for number in range(8):
        body = {"url": f"https://example.org/{number}", "title": f"Lorem {number}", "content": "lorem " * 40_000}
        alice.post(f"/v1/feeds/{feed['id']}/entries/import", body)
    reader.get(f"/feeds/{feed['id']}/edit")

    page = reader.post(f"/feeds/{feed['id']}/try", rewrite_rules='replace("lorem"|"loremlorem"),' * 30).body.decode()

    assert "all rules together take too long for this entry" in page
    assert re.search(r"The rules take too long: [0-9]+ more entries were not tried\.", page)


def test_rows_build_the_filters_of_a_feed(reader: Visitor, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ("Rain tomorrow", "Buy this", "River news"))
    path = f"/feeds/{feed['id']}"
    page = reader.page(f"{path}/edit")
    given = fields(page) | {"csrf": reader.token, "title": "Typed"}
    rows = {"block_mode": "rows", "block_field": ["EntryTitle"], "block_how": ["begins"], "block_value": ["buy"]}

    page = reader.post(f"{path}/try", given | rows | {"edit": "block-preview"}).body.decode()
    assert "1 of the newest 3 entries matches" in page
    assert 'value="Typed"' in page
    page = reader.post(f"{path}/try", given | rows).body.decode()
    assert "1 blocked, 0 changed" in page
    gap = {"block_field": ["EntryTitle"] * 2, "block_how": ["has"] * 2, "block_value": ["a", " "]}
    answer = reader.post(f"{path}/edit", given | rows | gap)
    assert answer.status == 400
    assert 'id="block-error-2">Say what to look for.' in answer.body.decode()

    assert reader.post(f"{path}/edit", given | rows).status == 303
    assert alice.get(f"/v1{path}")["block_filter_entry_rules"] == "EntryTitle=(?i)^buy"


def test_the_entries_of_a_stranger_are_not_tried(reader: Visitor, bob: Person, site: Publisher) -> None:
    feed = bob.has_feed(site)
    reader.page("/feeds")

    rows = {"block_mode": "rows", "block_field": ["EntryTitle"], "block_how": ["has"], "block_value": ["a"]}
    assert reader.post(f"/feeds/{feed['id']}/try", rows | {"edit": "block-preview"}).status == 404


def test_stored_rules_that_never_match_are_shown_and_hinder_nothing(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    feed = alice.has_feed(site)
    path = f"/feeds/{feed['id']}/edit"
    rules = {"scraper_rules": "a[", "keep_filter_entry_rules": "EntryTitle=One\nEntryDate=bogus"}
    assert alice.put(f"/v1/feeds/{feed['id']}", rules, status=201) == feed | rules

    page = reader.page(path)

    assert "Some rules are left out because they can never match" in page
    assert "selector" in error(page, "scraper_rules")
    assert re.search(r'id="keep-error-2">A date rule is one of', page)
    preview = reader.post(f"/feeds/{feed['id']}/try", **fields(page) | {"csrf": reader.token}).body.decode()
    assert "Rule 2: A date rule is one of" in preview.partition('id="rule-preview"')[2]
    saved = reader.post(path, **fields(page) | {"title": "Mine", "csrf": reader.token})
    assert saved.status == 303
    assert alice.get(f"/v1/feeds/{feed['id']}")["title"] == "Mine"


def test_a_feed_can_be_checked_at_once_and_a_failure_is_shown(reader: Visitor, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    path = urlsplit(feed["feed_url"]).path
    reader.get(f"/feeds/{feed['id']}/edit")

    assert "Checked." in reader.follow(reader.post(f"/feeds/{feed['id']}/refresh"))
    site.serve(path, status=404)
    back = reader.post(f"/feeds/{feed['id']}/refresh", back="/feeds?q=feed")

    assert back.headers["location"] == "/feeds?q=feed"
    assert "(404)" in reader.follow(back)
    assert "(404)" in reader.page(f"/feeds/{feed['id']}/edit")


def test_a_document_that_was_cut_at_a_limit_leaves_a_note(reader: Visitor, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    path = urlsplit(feed["feed_url"]).path
    reader.get(f"/feeds/{feed['id']}/edit")
    long = f"<item><guid>long</guid><description>{'word ' * 900_000}</description></item>"
    site.serve(path, f"<rss version='2.0'><channel><title>T</title>{long}</channel></rss>".encode())

    page = reader.follow(reader.post(f"/feeds/{feed['id']}/refresh"))
    assert "An entry has more than 4,000,000 characters" in page
    assert "more than 10,000 entries" not in page

    site.serve(path, rss(["Short"], site.url(path)))
    assert "4,000,000" not in reader.follow(reader.post(f"/feeds/{feed['id']}/refresh"))


def test_a_feed_that_was_read_does_not_wait_for_its_first_check(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    path = f"/feeds/{alice.has_feed(site)['id']}/edit"
    assert "It has not been checked yet" not in reader.page(path)

    reader.post(path, **fields(reader.page(path)) | {"user_agent": "Mine/2.0", "csrf": reader.token})

    assert "It has not been checked yet" not in reader.page(path)
    assert "first check" not in reader.page("/feeds/import")


@pytest.mark.slow
def test_saved_pages_do_not_wait_for_a_check(reader: Visitor, alice: Person, site: Publisher) -> None:
    article = "<p>" + "The ferry runs again from Monday, every hour. " * 20 + "</p>"
    page = site.serve("/page", f"<html><body><article><h1>Ferry</h1>{article}</article></body></html>")
    alice.post("/v1/saved-pages", {"url": page}, status=201)

    assert "first check" not in reader.page("/feeds/import")
    (feed,) = alice.get("/v1/feeds")
    assert "Check now" not in reader.page(f"/feeds/{feed['id']}/edit")
    assert "last checked" not in reader.page(f"/feeds/{feed['id']}/edit")


def test_feeds_of_other_users_are_404(reader: Visitor, bob: Person, site: Publisher) -> None:
    theirs = bob.has_feed(site)["id"]
    reader.get("/feeds")

    assert reader.get(f"/feeds/{theirs}/edit").status == 404
    for action in ("edit", "try", "refresh"):
        assert reader.post(f"/feeds/{theirs}/{action}", title="Mine now").status == 404
    assert bob.get(f"/v1/feeds/{theirs}")["title"] == "A feed"


def test_an_address_on_another_host_needs_the_password_again(reader: Visitor, alice: Person, site: Publisher) -> None:
    kept = {"username": "me", "cookie": "a=b", "user_agent": "Mine/1.0"}
    feed = alice.has_feed(site, password="hush", **kept)
    path = f"/feeds/{feed['id']}/edit"
    given = fields(reader.page(path)) | {"feed_url": "https://new.example.org/feed", "csrf": reader.token}

    refused = reader.post(path, **given)

    assert refused.status == 400
    assert error(refused.body.decode(), "password").startswith("The new address is on another host")
    assert alice.get(f"/v1/feeds/{feed['id']}")["feed_url"] == feed["feed_url"]

    reader.post(path, **given | {"password": "hush again"})

    changed = alice.get(f"/v1/feeds/{feed['id']}")
    assert changed["feed_url"] == "https://new.example.org/feed"
    assert {name: changed[name] for name in kept} == kept, "the page shows them, so that they are sent again"
    assert changed["password"] == "hush again"


def test_the_page_says_what_to_do_about_a_feed_that_stays_for_its_password(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    feed = alice.has_feed(site, username="me", password="hush")
    with Publisher("127.0.0.2") as other:
        address = other.serve("/new.xml", rss(["One"], other.url("/new.xml")))
        site.redirect(urlsplit(feed["feed_url"]).path, to=address, status=301)
        for _ in range(3):
            alice.put(f"/v1/feeds/{feed['id']}/refresh")

    for page in (f"/feeds/{feed['id']}/edit", "/feeds"):
        shown = html.unescape(reader.page(page))
        assert f"It has moved to {address}, on another host" in shown
        assert "enter it in the settings of the feed" in shown
