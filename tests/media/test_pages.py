"""Pictures of articles through the media proxy, as pages show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from urllib.parse import urlsplit

import pytest

from support.databases import Databases
from support.people import Cast, Person, call
from support.publisher import Publisher
from support.running import RunningService, running_service
from support.visitors import Visitor
from tidings.media.policy import MediaKind
from web.pages.test_settings import sent

pytestmark = pytest.mark.slow

PNG = b"\x89PNG\r\n\x1a\n and so on"
MIB = 2**20
PROXIED = re.compile(r'="(/proxy/[\w-]+/[\w-]+)"')


@pytest.fixture(scope="module")
def proxying(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that loads all pictures for its users."""
    folder = tmp_path_factory.mktemp("proxying")
    with databases.migrated() as url, running_service(
        url, folder, media_proxy_mode="all", media_proxy_resource_types="image, audio,video"
    ) as running:  # fmt: skip
        yield running


@pytest.fixture
def dora(proxying: RunningService) -> Person:
    return Cast(proxying).person("dora")


@pytest.fixture
def her_browser(proxying: RunningService, dora: Person) -> Visitor:
    browser = Visitor(proxying, dora)
    assert browser.sign_in().status == 303
    return browser


def subscribe(person: Person, site: Publisher, content: str, extra: str = "") -> int:
    """Return the id of an entry with the content."""
    item = f"<item><title>Rain</title><guid>1</guid><description>{escape(content)}</description>{extra}</item>"
    site.serve("/pictures.xml", f'<rss version="2.0"><channel><title>Pictures</title>{item}</channel></rss>')
    person.post("/v1/feeds", {"feed_url": site.url("/pictures.xml")})
    return int(person.entries()[0]["id"])


def picture_sources(headers: dict[str, str]) -> str:
    return next(part for part in headers["content-security-policy"].split("; ") if part.startswith("img-src"))


@pytest.mark.slow
def test_a_page_loads_all_pictures_from_us_when_the_operator_wants_that(
    her_browser: Visitor, dora: Person, site: Publisher
) -> None:
    enclosure = f'<enclosure url="{site.url("/cover.png")}" type="image/png" length="1"/>'
    entry = subscribe(dora, site, f'<p>Rain <img src="{site.serve("/rain.png", PNG)}" alt="Drops"></p>', enclosure)
    site.serve("/cover.png", PNG)

    answer = her_browser.get(f"/entries/{entry}")
    page = answer.body.decode()

    assert f'src="{site.url("")}' not in page
    found = list(dict.fromkeys(PROXIED.findall(page)))
    assert len(found) == 2
    assert picture_sources(dict(answer.headers)) == "img-src 'self' data:"
    for path in found:
        picture = call(her_browser.service.url, "GET", path)
        assert (picture.status, picture.body, picture.headers["content-type"]) == (200, PNG, "image/png")
        assert "sandbox" in picture.headers["content-security-policy"]
        known = call(her_browser.service.url, "GET", path, headers={"If-None-Match": picture.headers["etag"]})
        assert (known.status, known.body) == (304, b"")
    # The API tells what the publisher wrote.
    assert f'src="{site.url("/rain.png")}"' in dora.entries()[0]["content"]

    her_browser.post("/view", density="cards")
    assert re.search(
        r'class="row-picture" src="/proxy/', her_browser.page("/unread?show=all") + her_browser.page("/history")
    )


def test_pictures_of_a_shared_entry_are_loaded_without_a_session(
    her_browser: Visitor, proxying: RunningService, dora: Person, site: Publisher
) -> None:
    entry = subscribe(dora, site, f'<img src="{site.serve("/rain.png", PNG)}">')
    shared = re.search(r"/share/[\w-]+", her_browser.follow(her_browser.post(f"/entries/{entry}/share")))
    assert shared

    answer = Visitor(proxying).get(shared[0])

    found = PROXIED.search(answer.body.decode())
    assert found
    assert call(proxying.url, "GET", found[1]).body == PNG
    assert picture_sources(dict(answer.headers)) == "img-src 'self' data:"


def test_a_picture_that_cannot_be_shown_is_a_placeholder_and_a_link(
    her_browser: Visitor, proxying: RunningService, dora: Person, site: Publisher
) -> None:
    broken = {
        "/page.png": "did not send a picture",
        "/large.png": "larger than the limit",
        "/gone.png": "404",
    }
    site.serve("/page.png", "<html>Sign in</html>")
    site.serve("/large.png", PNG + b"x" * 16 * MIB)
    images = "".join(f'<p><img src="{site.url(path)}"></p>' for path in broken)
    page = her_browser.page(f"/entries/{subscribe(dora, site, images)}")
    found = list(dict.fromkeys(PROXIED.findall(page)))
    assert len(found) == len(broken)
    # The picture links to its own address, where the reason and the way to the publisher are.
    assert all(page.count(f'"{path}"') == 2 for path in found)

    for path, (original, reason) in zip(found, broken.items(), strict=True):
        placeholder = call(proxying.url, "GET", path, headers={"Sec-Fetch-Dest": "image"})
        assert (placeholder.status, placeholder.headers["content-type"]) == (404, "image/svg+xml")
        assert len(placeholder.body) < 1024
        opened = her_browser.get(path, headers={"Sec-Fetch-Dest": "document"})
        assert opened.status == 404
        assert reason in opened.body.decode()
        assert f'href="{site.url(original)}"' in opened.body.decode()


@pytest.mark.parametrize(
    "path", ["/proxy/AAAAAAAAAAAAAAAAAAAAAA/aHR0cDovLzEyNy4wLjAuMS8", "/proxy/x/y", "/proxy/%00/%ff"]
)
def test_an_address_that_we_did_not_sign_is_refused(proxying: RunningService, path: str) -> None:
    answer = call(proxying.url, "GET", path)

    assert answer.status == 403


def test_pictures_come_from_the_publisher_on_http_pages_by_default(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    entry = subscribe(alice, site, f'<img src="{site.url("/rain.png")}">')

    answer = reader.get(f"/entries/{entry}")

    assert f'src="{site.url("/rain.png")}"' in answer.body.decode()
    assert picture_sources(dict(answer.headers)) == "img-src * data:"


@pytest.mark.slow
def test_http_pictures_go_through_us_on_https_pages_by_default(
    databases: Databases, tmp_path_factory: pytest.TempPathFactory, site: Publisher
) -> None:
    with Publisher(tls=True) as secure, databases.migrated() as url, running_service(
        url, tmp_path_factory.mktemp("https"), base_url="https://reader.example.org"
    ) as service:  # fmt: skip
        person = Cast(service).person("erin")
        browser = Visitor(service, person)
        browser.sign_in()
        entry = subscribe(
            person, site, f'<img src="{site.serve("/rain.png", PNG)}"><img src="{secure.url("/sun.png")}">'
        )

        answer = browser.get(f"/entries/{entry}")
        page = answer.body.decode()

        assert f'src="{site.url("/rain.png")}"' not in page
        assert f'src="{secure.url("/sun.png")}"' in page
        path = PROXIED.search(page)
        assert path
        assert call(service.url, "GET", urlsplit(path[1]).path).body == PNG
        assert picture_sources(dict(answer.headers)) == "img-src * data:"


def test_a_picture_in_a_link_keeps_that_link_and_small_ones_get_none(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    content = (
        '<p><a href="https://example.org/page"><img src="https://example.org/linked.png" alt="Rain"></a></p>'
        '<p>A <img src="https://example.org/smile.png" width="16" height="16" alt=":)"> in the text</p>'
        '<picture><source srcset="https://example.org/wide.webp 1x">'
        '<img src="https://example.org/wide.png" alt=""></picture>'
    )

    page = reader.page(f"/entries/{subscribe(alice, site, content)}")

    assert re.findall(r'<a class="zoom" href="([^"]+)"', page) == ["https://example.org/wide.png"]
    assert 'aria-label="Enlarge picture"><picture>' in page


def test_a_user_may_load_all_pictures_through_us(reader: Visitor, alice: Person, bob: Person, site: Publisher) -> None:
    content = f'<img src="{site.serve("/rain.png", PNG)}">'
    entry = subscribe(alice, site, content)
    assert "Load pictures through this service" in reader.page("/settings/reading")

    reader.post("/settings/reading", sent("/settings/reading", alice.get("/v1/me")), proxies_pictures=1)

    assert alice.get("/v1/me")["proxies_pictures"] is True
    answer = reader.get(f"/entries/{entry}")
    assert PROXIED.search(answer.body.decode())
    assert picture_sources(dict(answer.headers)) == "img-src 'self' data:"
    # It is the choice of one user.
    others = Visitor(bob.service, bob)
    others.sign_in()
    assert site.url("/rain.png") in others.page(f"/entries/{subscribe(bob, site, content)}")


def test_sounds_pass_through_us_when_the_operator_asks_for_it(
    her_browser: Visitor, proxying: RunningService, dora: Person, site: Publisher
) -> None:
    site.serve("/rain.mp3", b"sound", headers={"Content-Type": "audio/mpeg"})
    site.serve("/page.mp3", "<html>", headers={"Content-Type": "text/html"})
    enclosures = "".join(
        f'<enclosure url="{site.url(path)}" type="audio/mpeg" length="9"/>' for path in ("/rain.mp3", "/page.mp3")
    )

    answer = her_browser.get(f"/entries/{subscribe(dora, site, 'Rain', enclosures)}")
    found = re.findall(r'<audio [^>]*src="(/proxy/stream/[^"]+)"', answer.body.decode())

    assert "media-src 'self';" in answer.headers["content-security-policy"]
    sound = call(proxying.url, "GET", found[0], headers={"Range": "bytes=0-"})
    assert (sound.status, sound.body, sound.headers["content-type"]) == (200, b"sound", "audio/mpeg")
    assert call(proxying.url, "HEAD", found[0]).status == 200
    assert site.requests_for("/rain.mp3")[0].headers["range"] == "bytes=0-"
    if len(found) > 1:
        assert call(proxying.url, "GET", found[1]).status == 404


def test_sounds_pass_through_us_only_when_the_operator_asks_for_it(service: RunningService, site: Publisher) -> None:
    url = site.serve("/rain.mp3", b"sound", headers={"Content-Type": "audio/mpeg"})
    path = service.services.media.proxy.path(url, MediaKind.AUDIO)

    assert call(service.url, "GET", path).status == 403
    assert site.requests == []
