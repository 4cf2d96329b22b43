"""Connect an app: what to enter in it, with a password made by one click and shown once."""

from __future__ import annotations

import re

import pytest

from fever.apps import FeverApp, key_of
from greader.apps import App
from support.people import Person, call
from support.visitors import Visitor
from tidings.domain.accounts.api_passwords import MAX_PASSWORDS
from tidings.web.pages.settings.client_apps import APPS, BY_SLUG, OTHERS, ClientApi, ClientApp

BASE = "https://example.org/news"


def path(slug: str) -> str:
    return f"/settings/apps/{slug}"


def secret_of(page: str) -> str:
    match = re.search(r'id="new-secret">([a-z0-9-]+)<', page)
    assert match, page
    return match[1]


def make_secret(reader: Visitor, slug: str) -> str:
    reader.page(path(slug))
    answer = reader.post(path(slug))
    assert answer.status == 200, answer
    return answer.body.decode()


@pytest.mark.slow
def test_every_app_has_a_page_that_is_linked(reader: Visitor) -> None:
    listed = reader.page("/settings/apps")

    for app in (*APPS, *OTHERS):
        assert f'href="{path(app.slug)}"' in listed
        assert app.name in reader.page(path(app.slug))


@pytest.mark.parametrize("place", ["/settings", "/settings/api-passwords", "/settings/api-keys", "/about"])
def test_pages_nearby_lead_to_it(reader: Visitor, place: str) -> None:
    main = reader.page(place)

    assert 'href="/settings/apps"' in main[main.index("</nav>") if place != "/settings" else 0 :]


def test_a_password_for_the_google_reader_api_is_shown_once_and_works(reader: Visitor, alice: Person) -> None:
    page = make_secret(reader, "netnewswire")
    password = secret_of(page)

    assert f'id="username">{alice.user.username}<' in page
    assert re.search(r'id="address">http[^<]*/api/greader\.php<', page)
    assert App(alice, "/api/greader.php").sign_in(password).get("user-info")["userName"] == alice.user.username
    assert password not in reader.page(path("netnewswire"))
    assert [one["name"] for one in alice.get("/v1/api-passwords")] == ["NetNewsWire"]


def test_a_password_for_the_fever_api_works_and_the_page_says_why_it_is_needed(reader: Visitor, alice: Person) -> None:
    page = make_secret(reader, "fiery-feeds")

    assert FeverApp(alice, key_of(alice.user.username, secret_of(page))).get()["auth"] == 1
    assert "MD5" in page
    assert "MD5" not in reader.page(path("netnewswire"))


def test_apps_of_the_native_api_get_a_key(reader: Visitor, alice: Person) -> None:
    page = make_secret(reader, "flux-news")

    answer = call(alice.service.url, "GET", "/v1/me", headers={"X-Auth-Token": secret_of(page)})
    assert answer.json()["id"] == alice.id
    assert 'id="username"' not in page
    assert "Flux News" in [one["description"] for one in alice.get("/v1/api-keys")]


def test_a_configuration_file_is_complete_once_there_is_a_key(reader: Visitor, alice: Person) -> None:
    before = reader.page(path("newsboat"))
    assert 'miniflux-token "…"' in before.replace("&#34;", '"')

    page = make_secret(reader, "newsboat")

    assert f'miniflux-token "{secret_of(page)}"' in page.replace("&#34;", '"')
    assert "<svg viewBox" not in page
    assert "<svg viewBox" in reader.page(path("reeder"))


@pytest.mark.parametrize("slug", ["reeder", "flux-news"])
def test_a_second_password_gets_a_number(reader: Visitor, alice: Person, slug: str) -> None:
    app = BY_SLUG[slug]
    place, member = ("/v1/api-keys", "description") if app.api is ClientApi.MINIFLUX else ("/v1/api-passwords", "name")
    alice.post(place, {member: app.name.upper()})

    first, second = (secret_of(make_secret(reader, slug)) for _ in range(2))

    assert first != second
    assert {f"{app.name} 2", f"{app.name} 3"} <= {one[member] for one in alice.get(place)}


@pytest.mark.slow
def test_who_has_too_many_passwords_is_told(reader: Visitor, alice: Person) -> None:
    for number in range(MAX_PASSWORDS):
        alice.post("/v1/api-passwords", {"name": f"app {number}"})
    reader.page(path("reeder"))

    answer = reader.post(path("reeder"))

    assert answer.status == 400
    assert f"You have {MAX_PASSWORDS} API passwords" in answer.body.decode()
    assert "new-secret" not in answer.body.decode()


def test_the_password_of_the_account_is_mentioned_only_where_it_works(reader: Visitor, alice: Person) -> None:
    assert "password of your account works" in reader.page(path("reeder"))
    alice.put(f"/v1/users/{alice.id}", {"allow_account_password_in_apps": False}, status=201)

    assert "password of your account works" not in reader.page(path("reeder"))
    assert "password of your account works" not in reader.page(path("unread"))


def test_an_unknown_app_is_404(reader: Visitor) -> None:
    reader.page("/settings/apps")

    for slug in ("nothing", "%00", "Reeder"):
        assert reader.get(path(slug)).status == 404
        assert reader.post(path(slug)).status == 404


@pytest.mark.parametrize("app", [*APPS, *OTHERS], ids=lambda app: app.slug)
def test_addresses_are_below_the_base_url(app: ClientApp) -> None:
    ending = {"liferea": "", "rss-guard": "", "news-plus": "", "vienna": ""}.get(
        app.slug, {"Google Reader API": "/api/greader.php", "Fever API": "/fever/", "Miniflux": ""}[app.api.value]
    )

    assert app.address(BASE) == app.address(BASE + "/") == BASE + ending


def test_a_configuration_file_has_no_placeholder_left() -> None:
    filled = {app.slug: app.fill_config(BASE, "alice", "secret") for app in APPS if app.config}

    assert filled["newsboat"].splitlines()[1:] == [f'miniflux-url "{BASE}"', 'miniflux-token "secret"']
    assert "fever+https://alice@example.org" in filled["elfeed-protocol"]
    assert f'"{BASE}/fever/"' in filled["elfeed-protocol"]
    assert all("{" not in text and "secret" in text for text in filled.values())


def test_slugs_and_names_are_unique_and_in_order() -> None:
    names = [app.name.casefold() for app in APPS]

    assert names == sorted(names)
    assert len(BY_SLUG) == len(APPS) + len(OTHERS)
