"""Pictures of articles in Chromium, through the media proxy."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import pytest
from playwright.sync_api import Browser, Route, expect

from browser.readers import reading, wait_until
from browser.test_players import part
from support.databases import Databases
from support.people import Cast, Person
from support.publisher import Publisher
from support.running import RunningService, running_service
from tidings.content import icons

pytestmark = pytest.mark.slow

PNG = icons.render_app_icon(192)


@pytest.fixture(scope="module")
def proxying(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("proxying")
    settings = {"media_proxy_mode": "all", "media_proxy_resource_types": "image,audio"}
    with databases.migrated() as url, running_service(url, folder, **settings) as running:
        yield running


def subscribe(person: Person, site: Publisher, content: str) -> int:
    """Return the id of an entry with the content."""
    item = f"<item><title>Rain</title><guid>1</guid><description>{escape(content)}</description></item>"
    site.serve("/pictures.xml", f'<rss version="2.0"><channel><title>Pictures</title>{item}</channel></rss>')
    person.post("/v1/feeds", {"feed_url": site.url("/pictures.xml")})
    return int(person.entries()[0]["id"])


@pytest.mark.parametrize("width", [1280, 390])
def test_an_article_is_read_without_a_request_to_its_publisher(
    browser: Browser, proxying: RunningService, site: Publisher, width: int
) -> None:
    person = Cast(proxying).person("dora")
    good, broken = site.serve("/rain.png", PNG), site.serve("/page.png", "<html>Sign in</html>")
    content = f'<p>Before</p><img src="{good}" alt="Drops"><p><img src="{broken}" width="1200" height="800"> after</p>'
    entry = subscribe(person, site, content)
    site.forget_requests()

    # Requests to other hosts are complaints, which end the test.
    with reading(browser, proxying, viewport={"width": width, "height": 800}) as made:
        made.tolerated = ("404",)
        made.set_session(person)
        page = made.go(f"/entries/{entry}")
        pictures = page.locator(".content img")
        expect(pictures).to_have_count(2)
        page.wait_for_function("() => [...document.querySelectorAll('.content img')].every(one => one.complete)")
        assert pictures.first.evaluate("one => one.naturalWidth") == 192
        # A small placeholder in the place of the other, also when the page comes back.
        for _ in range(2):
            expect(pictures.last).to_have_class("missing")
            box = pictures.last.bounding_box()
            assert box
            assert (box["width"], box["height"]) == (160, 100)
            page.reload()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.goto(str(page.locator(".zoom").last.evaluate("link => link.href")))
        expect(page.get_by_role("link", name="Open at the publisher")).to_have_attribute("href", broken)

    assert {seen.headers["user-agent"] for seen in site.requests} == {site.requests[0].headers["user-agent"]}
    assert "Chrome" not in site.requests[0].headers["user-agent"]


@pytest.mark.parametrize("width", [1280, 390])
def test_pictures_are_enlarged_and_broken_ones_leave_no_hole(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, width: int
) -> None:
    good, broken = site.serve("/rain.png", PNG), site.serve("/page.png", "<html>")
    content = (
        f'<p><img src="{good}" alt="Drops"></p><p><img src="{broken}" alt="A cloud" width="900" height="600"></p>'
        f'<p><img src="{broken}?2"></p><p>Sun <a href="https://example.org/"><img src="{broken}?3"> and moon</a></p>'
    )
    entry = subscribe(alice, site, content)

    with reading(browser, service, viewport={"width": width, "height": 800}) as made:
        made.loses_connection = True
        made.set_session(alice)
        page = made.go(f"/entries/{entry}")
        expect(page.locator(".content img")).to_have_count(1)
        expect(page.get_by_role("link", name="A cloud", exact=True)).to_have_attribute("href", broken)
        expect(page.get_by_role("link", name="Picture", exact=True)).to_have_attribute("href", f"{broken}?2")
        expect(page.get_by_role("link", name="and moon")).to_have_count(1)

        for is_key in (True, False):
            page.get_by_role("link", name="Drops").click()
            expect(page.get_by_role("dialog", name="Drops")).to_be_visible()
            if is_key:
                page.keyboard.press("Escape")
            else:
                page.locator("dialog.picture").click()
            expect(page.locator("dialog.picture")).to_have_count(0)
            assert page.url.endswith(f"/entries/{entry}")
        made.complaints = [one for one in made.complaints if not one.startswith("asked for")]


def test_what_does_not_come_from_us_is_not_loaded(browser: Browser, proxying: RunningService, site: Publisher) -> None:
    """The policy of a page names us alone, and an address that we did not sign is refused."""
    person = Cast(proxying).person("dora")
    entry = subscribe(person, site, f'<p>Before</p><img src="{site.serve("/rain.png", PNG)}" alt="Drops">')
    spy = site.serve("/spy.png", PNG)

    with reading(browser, proxying, viewport={"width": 1280, "height": 800}) as made:
        made.set_session(person)
        page = made.go(f"/entries/{entry}")
        page.wait_for_function("() => document.querySelector('.content img').naturalWidth === 192")
        load = """(url) => new Promise((done) => {
            const image = new Image();
            image.onload = () => done("shown");
            image.onerror = () => done("refused");
            image.src = url;
        })"""
        signed = str(page.locator(".content img").evaluate("one => one.src"))
        beginning, signature, address = signed.rsplit("/", 2)
        forged = f"{beginning}/{'A' * len(signature)}/{address}"

        assert [page.evaluate(load, url) for url in (f"{signed}?2", spy, forged)] == ["shown", "refused", "refused"]
        assert not site.requests_for("/spy.png")
        # Messages of the console may come later than what they are about.
        wait_until(page, lambda: sum("console:" in one for one in made.complaints) == 2)
        policy, refused = (one for one in made.complaints if "console:" in one)
        assert "img-src 'self'" in policy
        assert "403" in refused
        made.complaints, made.tolerated = [], ("403",)
        answer = page.goto(forged)
        assert answer
        assert answer.status == 403


def test_a_sound_is_heard_without_a_request_to_its_publisher(
    browser: Browser, proxying: RunningService, site: Publisher
) -> None:
    person = Cast(proxying).person("dora")
    site.script("/rain.wav", part)
    sound = f'<enclosure url="{site.url("/rain.wav")}" type="audio/wav" length="9"/>'
    item = f"<item><title>Rain</title><guid>1</guid><description>x</description>{sound}</item>"
    site.serve("/sounds.xml", f'<rss version="2.0"><channel><title>Sounds</title>{item}</channel></rss>')
    person.post("/v1/feeds", {"feed_url": site.url("/sounds.xml")})
    site.forget_requests()

    with reading(browser, proxying, viewport={"width": 1280, "height": 800}) as made:
        made.set_session(person)
        page = made.go(f"/entries/{person.entries()[0]['id']}")
        assert "/proxy/stream/" in str(page.locator("audio").get_attribute("src"))
        page.evaluate("document.querySelector('audio').play()")
        page.wait_for_function("() => document.querySelector('audio').currentTime > 0.2")
        # Moving in it asks for a part, which passes through us as well.
        page.evaluate("document.querySelector('audio').currentTime = 150")
        page.wait_for_function("() => document.querySelector('audio').currentTime > 150.2")

    seen = site.requests_for("/rain.wav")
    assert seen
    assert not any("Chrome" in one.headers["user-agent"] for one in seen)


FILM = """<item><title>Film</title><link>https://example.org/film</link><guid>film</guid>
<description>{notes}</description><media:thumbnail url="{thumbnail}"/>
<enclosure url="https://example.org/film.mp4" type="video/mp4" length="1048576"/></item>"""
NOTES = """<p>Notes.</p><iframe src="https://www.youtube.com/embed/abcdefghijk"></iframe>
<iframe src="https://frames.example.org/chart"></iframe>"""


def subscribe_to_films(person: Person, site: Publisher) -> tuple[int, int]:
    """Return the ids of a feed and of its entry, a film whose thumbnail is a picture of ours."""
    thumbnail = site.serve("/still.png", PNG)
    content = FILM.format(notes=escape(NOTES), thumbnail=thumbnail)
    namespace = 'xmlns:media="http://search.yahoo.com/mrss/"'
    site.serve("/films.xml", f'<rss version="2.0" {namespace}><channel><title>Films</title>{content}</channel></rss>')
    feed = person.post("/v1/feeds", {"feed_url": site.url("/films.xml")})
    return int(feed["feed_id"]), int(person.entries()[0]["id"])


@pytest.mark.parametrize("width", [1280, 390])
def test_a_film_is_behind_its_thumbnail_and_a_frame_is_a_player_or_a_link(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, width: int
) -> None:
    feed, entry = subscribe_to_films(alice, site)

    with reading(browser, service, viewport={"width": width, "height": 800}) as made:
        made.set_session(alice)
        asked: list[str] = []

        def refuse(route: Route) -> None:
            asked.append(route.request.url)
            route.abort()

        made.context.route("https://**", refuse)
        page = made.go(f"/entries/{entry}")

        # The thumbnail is what players show before a click, which asks for nothing else, and no attachment.
        expect(page.locator("video")).to_have_attribute("poster", site.url("/still.png"))
        expect(page.locator(".embed img")).to_have_attribute("src", site.url("/still.png"))
        expect(page.locator(".attached")).to_have_count(0)
        box, notes = page.locator("video").bounding_box(), page.get_by_text("Notes.", exact=True).bounding_box()
        assert box
        assert notes
        assert box["y"] + box["height"] <= notes["y"]
        assert asked == []
        # The player of another host comes with a click on its cover, and the frame that we do not show is a link.
        expect(page.locator("iframe")).to_have_count(0)
        expect(page.get_by_role("link", name="frames.example.org")).to_have_attribute(
            "href", "https://frames.example.org/chart"
        )
        page.locator(".embed a").click()
        expect(page.locator("iframe")).to_have_count(1)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

        alice.put(f"/v1/feeds/{feed}", {"no_media_player": True}, status=201)
        made.go(f"/entries/{entry}")
        expect(page.locator("video, iframe, .embed")).to_have_count(0)
        expect(page.get_by_role("link", name="film.mp4")).to_have_attribute("href", "https://example.org/film.mp4")
        expect(page.get_by_role("link", name="youtube")).to_have_count(1)
        made.complaints = []
