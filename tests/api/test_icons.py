"""Icons of feeds."""

from __future__ import annotations

import base64
import io
import threading
from typing import Any

import pytest
from PIL import Image

from support.people import Person, rss
from support.publisher import Endless, Hang, Publisher
from tidings.base.times import DAY, Instant
from tidings.storage.feeds import feeds, icons
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><path d="M0 0h8v8z"/></svg>'


def png(width: int = 16, height: int = 16, color: str = "red") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), color).save(out, "PNG")
    return out.getvalue()


def subscribe(person: Person, site: Publisher, *, extra: str = "", **fields: Any) -> dict[str, Any]:
    """To a feed whose site is /blog/."""
    document = rss(["One"], site.url("/feed.xml"), extra=extra).replace("/feed.xml/site", "/blog/")
    site.serve("/feed.xml", document)
    created = person.post("/v1/feeds", {"feed_url": site.url("/feed.xml"), **fields})
    feed: dict[str, Any] = person.get(f"/v1/feeds/{created['feed_id']}")
    return feed


def refreshed(person: Person, feed: dict[str, Any]) -> dict[str, Any]:
    person.put(f"/v1/feeds/{feed['id']}/refresh")
    after: dict[str, Any] = person.get(f"/v1/feeds/{feed['id']}")
    return after


def image_of(person: Person, feed: dict[str, Any]) -> Image.Image:
    icon = person.get(f"/v1/feeds/{feed['id']}/icon")
    media_type, _, data = icon["data"].partition(";base64,")
    assert media_type == icon["mime_type"]
    return Image.open(io.BytesIO(base64.b64decode(data)))


def color(image: Image.Image) -> object:
    return image.convert("RGB").getpixel((0, 0))


def long_ago(services: AllServices, feed: dict[str, Any], days: int) -> None:
    """As if its icon had been looked for then."""
    with services.database.writing() as db:
        feeds.change(db, feed["user_id"], feed["id"], icon_checked_at=Instant(services.clock() - days * DAY))


def test_a_new_feed_has_the_icon_of_its_site(alice: Person, site: Publisher) -> None:
    site.serve("/blog/", '<link rel="icon" href="icon.png">')
    site.serve("/blog/icon.png", png())

    feed = subscribe(alice, site)

    icon = alice.get(f"/v1/feeds/{feed['id']}/icon")
    assert sorted(icon) == ["data", "id", "mime_type"]
    assert icon["mime_type"] == "image/png"
    assert icon["data"].startswith("image/png;base64,")
    assert alice.get(f"/v1/icons/{icon['id']}") == icon
    assert feed["icon"]["feed_id"] == feed["id"]
    assert feed["icon"]["icon_id"] == icon["id"]
    assert len(bytes.fromhex(feed["icon"]["external_icon_id"])) == 20


def test_an_icon_in_the_feed_is_preferred(alice: Person, site: Publisher) -> None:
    site.serve("/blog/", '<link rel="icon" href="/page.png">')
    site.serve("/page.png", png(color="blue"))
    site.serve("/named.png", png(color="red"))

    feed = subscribe(alice, site, extra=f"<image><url>{site.url('/named.png')}</url></image>")

    assert color(image_of(alice, feed)) == (255, 0, 0)
    assert site.requests_for("/blog/") == []


@pytest.mark.one_engine
def test_the_best_size_is_preferred(alice: Person, site: Publisher) -> None:
    links = '<link rel="icon" sizes="16x16" href="/s.png"><link rel="icon" sizes="128x128" href="/l.png">'
    site.serve("/blog/", links)
    site.serve("/s.png", png(16, 16))
    site.serve("/l.png", png(128, 128))

    assert image_of(alice, subscribe(alice, site)).size == (64, 64)


@pytest.mark.one_engine
def test_a_large_icon_keeps_its_ratio(alice: Person, site: Publisher) -> None:
    site.serve("/favicon.ico", png(200, 100))

    assert image_of(alice, subscribe(alice, site)).size == (64, 32)


@pytest.mark.one_engine
def test_the_root_page_is_requested_after_the_site(alice: Person, site: Publisher) -> None:
    site.serve("/blog/", "<p>No icon here</p>")
    site.serve("/", '<link rel="icon" href="/icon.png">')
    site.serve("/icon.png", png())

    assert subscribe(alice, site)["icon"]


@pytest.mark.one_engine
def test_the_favicon_is_the_last_resort(alice: Person, site: Publisher) -> None:
    site.serve("/favicon.ico", png())

    feed = subscribe(alice, site)

    assert feed["icon"]
    paths = [seen.path for seen in site.requests]
    assert paths == ["/feed.xml", "/blog/", "/", "/favicon.ico"]


@pytest.mark.one_engine
def test_an_html_page_is_no_icon(alice: Person, site: Publisher) -> None:
    site.serve("/blog/", '<link rel="icon" href="/missing.png"><link rel="icon" href="/good.png">')
    site.serve("/missing.png", "<html>Not found, says a page with status 200</html>")
    site.serve("/good.png", png())

    assert image_of(alice, subscribe(alice, site)).size == (16, 16)


@pytest.mark.one_engine
def test_a_feed_whose_site_has_no_picture_has_no_icon(alice: Person, site: Publisher) -> None:
    for path in ("/", "/blog/", "/favicon.ico"):
        site.serve(path, "<html>The same page for everything</html>")

    feed = subscribe(alice, site)

    assert feed["icon"] is None
    assert alice.call("GET", f"/v1/feeds/{feed['id']}/icon").status == 404


@pytest.mark.one_engine
def test_an_svg_icon_is_stored_without_scripts(alice: Person, site: Publisher) -> None:
    site.serve("/favicon.ico", SVG)

    icon = alice.get(f"/v1/feeds/{subscribe(alice, site)['id']}/icon")

    assert icon["mime_type"] == "image/svg+xml"
    drawing = base64.b64decode(icon["data"].partition(",")[2])
    assert b"path" in drawing
    assert b"script" not in drawing


@pytest.mark.one_engine
def test_an_icon_in_a_data_url_is_read(alice: Person, site: Publisher) -> None:
    data = base64.b64encode(png()).decode()
    site.serve("/blog/", f'<link rel="icon" href="data:image/png;base64,{data}">')

    assert subscribe(alice, site)["icon"]


@pytest.mark.parametrize("path", ["/v1/feeds/{}/icon", "/v1/icons/{}"])
def test_bad_ids_are_400_and_unknown_ones_404(alice: Person, path: str) -> None:
    for bad in ("0", "-1", "x", "1.5", str(2**63)):
        assert alice.call("GET", path.format(bad)).status == 400
    assert alice.call("GET", path.format(2147483000)).status == 404


def test_icons_of_other_users_are_404(alice: Person, bob: Person, charlie: Person, site: Publisher) -> None:
    site.serve("/favicon.ico", png(color="#123456"))
    feed = subscribe(alice, site)

    for stranger in (bob, charlie):
        assert stranger.call("GET", f"/v1/feeds/{feed['id']}/icon").status == 404
        assert stranger.call("GET", f"/v1/icons/{feed['icon']['icon_id']}").status == 404


def test_feeds_with_the_same_icon_share_it(alice: Person, bob: Person, site: Publisher) -> None:
    site.serve("/favicon.ico", png(color="#654321"))

    mine, others = subscribe(alice, site), subscribe(bob, site)

    assert mine["icon"]["icon_id"] == others["icon"]["icon_id"]
    assert mine["icon"]["external_icon_id"] == others["icon"]["external_icon_id"]
    bob.delete(f"/v1/feeds/{others['id']}")
    assert bob.call("GET", f"/v1/icons/{mine['icon']['icon_id']}").status == 404
    assert alice.get(f"/v1/icons/{mine['icon']['icon_id']}")


def test_concurrent_subscriptions_store_the_same_icon_once(
    alice: Person, bob: Person, charlie: Person, site: Publisher
) -> None:
    site.serve("/favicon.ico", png(color="#abcdef"))
    found: list[dict[str, Any]] = []
    people = (alice, bob, charlie)
    threads = [threading.Thread(target=lambda one=one: found.append(subscribe(one, site))) for one in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({one["icon"]["icon_id"] for one in found}) == 1


@pytest.mark.one_engine
def test_a_hanging_site_does_not_prevent_a_subscription(patient_alice: Person, site: Publisher) -> None:
    for path in ("/blog/", "/", "/favicon.ico"):
        site.script(path, Hang())

    assert subscribe(patient_alice, site)["icon"] is None


@pytest.mark.one_engine
def test_an_endless_icon_is_ignored(alice: Person, site: Publisher) -> None:
    site.script("/favicon.ico", Endless())

    assert subscribe(alice, site)["icon"] is None


def test_an_imported_feed_gets_its_icon_with_its_first_check(alice: Person, site: Publisher) -> None:
    feed = subscribe(alice, site)
    alice.delete(f"/v1/feeds/{feed['id']}")
    site.serve("/favicon.ico", png())
    document = f"<opml><body><outline xmlUrl='{site.url('/feed.xml')}'/></body></opml>"
    assert alice.call("POST", "/v1/import", raw=document.encode()).status == 201
    (imported,) = alice.get("/v1/feeds")
    assert imported["icon"] is None

    assert refreshed(alice, imported)["icon"]


def test_a_missing_icon_is_not_requested_at_every_check(alice: Person, site: Publisher, services: AllServices) -> None:
    feed = subscribe(alice, site)
    site.forget_requests()
    site.serve("/favicon.ico", png())

    assert refreshed(alice, feed)["icon"] is None
    assert site.requests_for("/favicon.ico") == []

    long_ago(services, feed, days=8)
    assert refreshed(alice, feed)["icon"]


def test_an_icon_is_requested_again_after_a_month(alice: Person, site: Publisher, services: AllServices) -> None:
    site.serve("/favicon.ico", png(color="red"))
    feed = subscribe(alice, site)
    site.serve("/favicon.ico", png(color="blue"))
    site.forget_requests()

    long_ago(services, feed, days=20)
    refreshed(alice, feed)
    assert site.requests_for("/favicon.ico") == []

    long_ago(services, feed, days=31)
    assert color(image_of(alice, refreshed(alice, feed))) == (0, 0, 255)


def test_an_icon_that_is_gone_is_kept(alice: Person, site: Publisher, services: AllServices) -> None:
    site.serve("/favicon.ico", png())
    feed = subscribe(alice, site)
    site.forget("/favicon.ico")

    long_ago(services, feed, days=31)

    assert refreshed(alice, feed)["icon"] == feed["icon"]


def test_a_feed_that_moves_to_another_site_gets_the_icon_of_that_site(alice: Person, site: Publisher) -> None:
    site.serve("/favicon.ico", png(color="red"))
    feed = subscribe(alice, site)
    with Publisher("127.0.0.2") as other:
        other.serve("/favicon.ico", png(color="blue"))
        alice.put(f"/v1/feeds/{feed['id']}", {"site_url": other.url("/")}, status=201)

        assert color(image_of(alice, refreshed(alice, feed))) == (0, 0, 255)


@pytest.mark.one_engine
def test_cookie_and_user_agent_are_sent_to_the_host_of_the_feed_only(alice: Person, site: Publisher) -> None:
    with Publisher("127.0.0.2") as other:
        other.serve("/icon.png", png())
        site.serve("/blog/", f'<link rel="icon" href="{other.url("/icon.png")}">')

        subscribe(alice, site, cookie="a=b", user_agent="Mine", username="me", password="secret")

        (other_host_request,), (own_host_request,) = other.requests_for("/icon.png"), site.requests_for("/blog/")
        assert not {"cookie", "authorization"} & other_host_request.headers.keys()
        assert other_host_request.headers["user-agent"] != "Mine"
        assert own_host_request.headers["cookie"] == "a=b"
        assert own_host_request.headers["user-agent"] == "Mine"


def test_a_failed_check_looks_for_no_icon(alice: Person, site: Publisher, services: AllServices) -> None:
    feed = subscribe(alice, site)
    long_ago(services, feed, days=100)
    site.forget("/feed.xml")
    site.forget_requests()

    assert alice.call("PUT", f"/v1/feeds/{feed['id']}/refresh").status == 500

    assert [seen.path for seen in site.requests] == ["/feed.xml"]


def test_unused_icons_are_deleted(alice: Person, site: Publisher, services: AllServices) -> None:
    site.serve("/favicon.ico", png(color="#010203"))
    feed = subscribe(alice, site)
    with services.database.writing() as db:
        icons.remove_unused(db)
    assert alice.get(f"/v1/feeds/{feed['id']}/icon")

    alice.delete(f"/v1/feeds/{feed['id']}")

    with services.database.writing() as db:
        assert icons.remove_unused(db) >= 1


@pytest.mark.one_engine
def test_an_icon_of_the_manifest_is_used(alice: Person, site: Publisher) -> None:
    site.serve("/blog/", '<link rel="manifest" href="/app/site.webmanifest">')
    site.serve("/app/site.webmanifest", '{"icons": [{"src": "icon.png", "sizes": "192x192"}]}')
    site.serve("/app/icon.png", png(color="blue"))

    assert color(image_of(alice, subscribe(alice, site))) == (0, 0, 255)


@pytest.mark.one_engine
def test_an_icon_in_the_link_header_is_used(alice: Person, site: Publisher) -> None:
    site.serve("/blog/", "<p>Hello", headers={"Link": "</icon.png>; rel=icon"})
    site.serve("/icon.png", png(color="blue"))

    assert color(image_of(alice, subscribe(alice, site))) == (0, 0, 255)


@pytest.mark.one_engine
def test_the_touch_icon_at_the_root_is_used(alice: Person, site: Publisher) -> None:
    site.serve("/apple-touch-icon.png", png(180, 180, color="blue"))

    assert color(image_of(alice, subscribe(alice, site))) == (0, 0, 255)
