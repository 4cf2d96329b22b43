"""Each service is asked as its public documentation says (linked in its module), and heard when it refuses."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_plus

import pytest

from support.provider_fixtures import AT, DELIVERY, SHOWN, TITLE, URL, SentRequest, hand_over, saved, says
from support.publisher import Answer, Publisher, Reply
from tidings.deliveries.events import FailureKind
from tidings.deliveries.registry import PROVIDERS_BY_EVENT, REGISTRY


@dataclass(frozen=True)
class Case:
    """settings: {site} is the service on loopback. answers: by path. asked: method, where to, and the body.

    credentials: header and value, of every request but those in `without`.
    """

    name: str
    settings: dict[str, Any]
    responses: dict[str, Reply]
    requests: list[tuple[str, str, Any]]
    credentials: tuple[str, str] = ("", "")
    without: tuple[int, ...] = ()
    more_headers: dict[str, str] = field(default_factory=dict)


BEARER = ("authorization", "Bearer s3cret")
CASES = [
    Case(
        "wallabag",
        {
            "url": "{site}/bag/",
            "client_id": "1_3o53",
            "client_secret": "636ocb",
            "username": "ada",
            "password": "pass word",
            "tags": "rain, tidings",
        },
        {
            "/bag/oauth/v2/token": says({"access_token": "ZGJmN", "expires_in": 3600, "token_type": "bearer"}),
            "/bag/api/entries.json": says({"id": 1, "title": "x"}),
        },
        [
            (
                "POST",
                "/bag/oauth/v2/token",
                {
                    "grant_type": "password",
                    "client_id": "1_3o53",
                    "client_secret": "636ocb",
                    "username": "ada",
                    "password": "pass word",
                },
            ),
            ("POST", "/bag/api/entries.json", {"url": URL, "title": TITLE, "tags": "rain,tidings"}),
        ],
        ("authorization", "Bearer ZGJmN"),
        without=(0,),
    ),
    Case(
        "linkding",
        {"url": "{site}", "token": "s3cret", "tags": "rain, after work", "unread": True},
        {"/api/bookmarks/": says({"id": 1}, 201)},
        [
            (
                "POST",
                "/api/bookmarks/",
                {"url": URL, "title": TITLE, "tag_names": ["rain", "after-work"], "unread": True},
            )
        ],
        ("authorization", "Token s3cret"),
    ),
    Case(
        "karakeep",
        {"url": "{site}", "api_key": "s3cret", "tags": "rain"},
        {
            "/api/v1/bookmarks": says({"id": "ieidlxyg", "tags": []}, 201),
            "/api/v1/bookmarks/ieidlxyg/tags": says({"attached": ["t1"]}),
        },
        [
            ("POST", "/api/v1/bookmarks", {"type": "link", "url": URL, "title": TITLE}),
            ("POST", "/api/v1/bookmarks/ieidlxyg/tags", {"tags": [{"tagName": "rain"}]}),
        ],
        BEARER,
    ),
    Case(
        "readeck",
        {"url": "{site}", "token": "s3cret", "tags": "rain,sky"},
        {"/api/bookmarks": Answer(status=202, headers={"Bookmark-Id": "RFut"})},
        [("POST", "/api/bookmarks", {"url": URL, "title": TITLE, "labels": ["rain", "sky"]})],
        BEARER,
    ),
    Case(
        "readwise",
        {"token": "s3cret", "tags": "rain", "location": "later", "send_content": True},
        {"/api/v3/save/": says({"id": "01g", "url": "https://read.readwise.io/new/read/01g"}, 201)},
        [
            (
                "POST",
                "https://readwise.io/api/v3/save/",
                {
                    "url": URL,
                    "title": TITLE,
                    "author": "Ada",
                    "published_date": SHOWN,
                    "location": "later",
                    "tags": ["rain"],
                    "saved_using": "Tidings",
                    "html": "<p>Take an umbrella.</p>",
                },
            )
        ],
        ("authorization", "Token s3cret"),
    ),
    Case(
        "instapaper",
        {"username": "ada@example.org", "password": "s3cret"},
        {"/api/add": Answer("201", status=201)},
        [("POST", "https://www.instapaper.com/api/add", {"url": URL, "title": TITLE})],
        ("authorization", "Basic " + base64.b64encode(b"ada@example.org:s3cret").decode()),
    ),
    Case(
        "raindrop",
        {"token": "s3cret", "collection_id": 8492393, "tags": "rain"},
        {"/rest/v1/raindrop": says({"result": True, "item": {}})},
        [
            (
                "POST",
                "https://api.raindrop.io/rest/v1/raindrop",
                {
                    "link": URL,
                    "title": TITLE,
                    "tags": ["rain"],
                    "pleaseParse": {},
                    "collection": {"$id": 8492393},
                },
            )
        ],
        BEARER,
    ),
    Case(
        "linkwarden",
        {"url": "{site}", "token": "s3cret", "collection": "Weather", "tags": "rain"},
        {"/api/v1/links": says({"response": {"id": 1}})},
        [
            (
                "POST",
                "/api/v1/links",
                {"url": URL, "name": TITLE, "tags": [{"name": "rain"}], "collection": {"name": "Weather"}},
            )
        ],
        BEARER,
    ),
    Case(
        "linkace",
        {"url": "{site}", "token": "s3cret", "tags": "rain", "lists": "Weather", "visibility": "internal"},
        {"/api/v2/links": says({"id": 1})},
        [
            (
                "POST",
                "/api/v2/links",
                {
                    "url": URL,
                    "title": TITLE,
                    "tags": ["rain"],
                    "lists": ["Weather"],
                    "visibility": 2,
                    "check_disabled": False,
                },
            )
        ],
        BEARER,
        more_headers={"accept": "application/json"},
    ),
    Case(
        "shiori",
        {"url": "{site}", "username": "ada", "password": "gopher", "tags": "rain", "archive": True},
        {
            "/api/v1/auth/login": says({"ok": True, "message": {"token": "s3cret", "expires": 1790003600}}),
            "/api/bookmarks": says({"id": 827, "url": URL}),
        },
        [
            ("POST", "/api/v1/auth/login", {"username": "ada", "password": "gopher", "remember_me": False}),
            (
                "POST",
                "/api/bookmarks",
                {"url": URL, "title": TITLE, "tags": [{"name": "rain"}], "createArchive": True},
            ),
        ],
        BEARER,
        without=(0,),
    ),
    Case(
        "betula",
        {"url": "{site}", "token": "s3cret", "tags": "rain, sky", "visibility": "unlisted"},
        {"/save-link": Answer(status=303, headers={"Location": "/14"})},
        [("POST", "/save-link", {"url": URL, "title": TITLE, "tags": "rain,sky", "visibility": "unlisted"})],
        ("cookie", "betula-token=s3cret"),
    ),
    Case(
        "notion",
        {"token": "s3cret", "page_id": "59833787-2cf9-4fdf-8782-e53db20768a5"},
        {"/v1/blocks/59833787-2cf9-4fdf-8782-e53db20768a5/children": says({"object": "list", "results": []})},
        [
            (
                "PATCH",
                "https://api.notion.com/v1/blocks/59833787-2cf9-4fdf-8782-e53db20768a5/children",
                {
                    "children": [
                        {
                            "object": "block",
                            "type": "bookmark",
                            "bookmark": {"url": URL, "caption": [{"type": "text", "text": {"content": TITLE}}]},
                        }
                    ]
                },
            )
        ],
        BEARER,
        more_headers={"notion-version": "2022-06-28"},
    ),
    Case(
        "cubox",
        {"api_link": "{site}/c/api/save/s3cret", "folder": "Weather", "tags": "rain"},
        {"/c/api/save/s3cret": says({"message": "", "code": 200})},
        [
            (
                "POST",
                "/c/api/save/s3cret",
                {"type": "url", "content": URL, "title": TITLE, "folder": "Weather", "tags": ["rain"]},
            )
        ],
    ),
    Case(
        "espial",
        {"url": "{site}", "api_key": "s3cret", "tags": "rain, after work", "private": False},
        {"/api/add": says("12", 201)},
        [
            (
                "POST",
                "/api/add",
                {"url": URL, "title": TITLE, "tags": "rain after-work", "private": False, "toread": True},
            )
        ],
        ("authorization", "ApiKey s3cret"),
    ),
    Case(
        "archive",
        {"access_key": "ACCESS", "secret_key": "s3cret", "outlinks": True},
        {"/save": says({"url": URL, "job_id": "spn2-9c17"})},
        [
            (
                "POST",
                "https://web.archive.org/save",
                {"url": URL, "skip_first_archive": "1", "capture_outlinks": "1"},
            )
        ],
        ("authorization", "LOW ACCESS:s3cret"),
        more_headers={"accept": "application/json"},
    ),
]


def settings_of(case: Case, site: Publisher) -> dict[str, Any]:
    created: dict[str, Any] = json.loads(json.dumps(case.settings).replace("{site}", site.origin))
    return created


def where(requests: SentRequest) -> str:
    return requests.origin + requests.path


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_service_gets_its_documented_requests(case: Case, site: Publisher) -> None:
    for path, reply in case.responses.items():
        site.script(path, reply)

    outcome, requests = hand_over(site, case.name, settings_of(case, site), saved())

    assert outcome.error_text == ""
    assert [(one.method, where(one), one.body) for one in requests] == case.requests
    header, value = case.credentials
    for number, one in enumerate(requests):
        assert one.headers.get(header) == (None if number in case.without or not header else value)
        assert one.headers["user-agent"] == "Tidings/test"
        assert case.more_headers.items() <= one.headers.items()


@pytest.mark.parametrize("status", [401, 403, 404, 422, 500, 302])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_refusal_has_an_error_message(case: Case, status: int, site: Publisher) -> None:
    settings = settings_of(case, site)
    secrets = [settings[field.name] for field in REGISTRY[case.name].fields if field.is_secret]
    for path in case.responses:
        site.script(path, Answer(f"{secrets} is no good", status=status, headers={"Location": "/elsewhere"}))

    outcome, _ = hand_over(site, case.name, settings, saved())

    assert outcome.status == status
    assert str(status) in outcome.error_text
    assert REGISTRY[case.name].title.english() in outcome.error_text
    assert "is no good" in outcome.response
    assert not any(secret in outcome.error_text + outcome.response for secret in secrets)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_entry_without_a_url_is_given_up_at_once(case: Case, site: Publisher) -> None:
    outcome, requests = hand_over(site, case.name, settings_of(case, site), saved(url=""))

    assert outcome.failure is FailureKind.REFUSED
    assert "no address" in outcome.error_text
    assert requests == []


@pytest.mark.parametrize("name", ["wallabag", "karakeep", "shiori"])
def test_an_invalid_response_is_a_failure(name: str, site: Publisher) -> None:
    case = next(case for case in CASES if case.name == name)
    site.serve(next(iter(case.responses)), "<html>Welcome</html>")

    outcome, _ = hand_over(site, name, settings_of(case, site), saved())

    assert "does not understand" in outcome.error_text


@pytest.mark.parametrize(("name", "status"), [("wallabag", 400), ("shiori", 400), ("instapaper", 403)])
def test_wrong_credentials_have_their_own_error(name: str, status: int, site: Publisher) -> None:
    case = next(case for case in CASES if case.name == name)
    site.serve(next(iter(case.responses)), '{"error": "invalid_grant"}', status=status)

    outcome, _ = hand_over(site, name, settings_of(case, site), saved())

    assert "does not accept the credentials" in outcome.error_text


@pytest.mark.parametrize("name", ["linkwarden", "shaarli"])
def test_an_existing_entry_counts_as_saved(name: str, site: Publisher) -> None:
    site.script("/api/v1/links", says({}, 409))

    outcome, _ = hand_over(site, name, {"url": site.origin, "token": "t", "api_secret": "t"}, saved())

    assert outcome.is_delivered


MORE_SETTINGS: dict[str, tuple[dict[str, Any], dict[str, Reply]]] = {
    "shaarli": ({"url": "{site}", "api_secret": "4c2a"}, {"/api/v1/links": says({"id": 1}, 201)}),
    "pinboard": ({"token": "ada:1234"}, {"/v1/posts/add": says({"result_code": "done"})}),
    "omnivore": (
        {"url": "{site}/api/graphql", "api_key": "key-1"},
        {"/api/graphql": says({"data": {"saveUrl": {"url": "https://omnivore.example/me/rain"}}})},
    ),
}
WITH_TAGS = sorted(name for name, provider in REGISTRY.items() if any(one.name == "tags" for one in provider.fields))


@pytest.mark.parametrize("name", WITH_TAGS)
def test_labels_of_an_entry_are_tags_as_well(name: str, site: Publisher) -> None:
    cases = {case.name: (case.settings, case.responses) for case in CASES} | MORE_SETTINGS
    settings, responses = cases[name]
    for path, reply in responses.items():
        site.script(path, reply)
    settings = json.loads(json.dumps(settings | {"tags": "sky"}).replace("{site}", site.origin))

    outcome, requests = hand_over(site, name, settings, saved(labels=["After, work", "sky"]))

    assert outcome.error_text == ""
    sent = " ".join(f"{unquote_plus(one.path)} {json.dumps(one.body)}" for one in requests)
    # Nowhere with its comma, which would make two tags of it.
    assert len(re.findall(r"\bAfter[ -]work\b", sent)) == len(re.findall("After", sent)) == 1
    assert len(re.findall(r"\bsky\b", sent)) == 1


def test_shaarli_gets_a_fresh_token(site: Publisher) -> None:
    site.script("/api/v1/links", says({"id": 1}, 201))
    settings = {"url": site.origin, "api_secret": "4c2a", "tags": "rain, after work", "private": False}

    outcome, (requests,) = hand_over(site, "shaarli", settings, saved())

    assert outcome.is_delivered
    assert requests.body == {"url": URL, "title": TITLE, "tags": ["rain", "after-work"], "private": False}
    scheme, token = requests.headers["authorization"].split(" ")
    head, body, signature = token.split(".")
    assert scheme == "Bearer"
    assert json.loads(decoded(head)) == {"typ": "JWT", "alg": "HS512"}
    assert json.loads(decoded(body)) == {"iat": AT // 1_000_000}
    assert decoded(signature) == hmac.digest(b"4c2a", f"{head}.{body}".encode(), hashlib.sha512)


def decoded(part: str) -> bytes:
    assert "=" not in part
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def test_pinboard_gets_the_entry_in_the_query(site: Publisher) -> None:
    site.script("/v1/posts/add", says({"result_code": "done"}), says({"result_code": "item already exists"}))
    settings = {"token": "ada:1234", "tags": "rain, after work", "unread": True, "shared": False}

    outcome, (requests,) = hand_over(site, "pinboard", settings, saved(title="x" * 300))

    assert outcome.is_delivered
    assert (requests.method, requests.origin, requests.path.partition("?")[0]) == (
        "GET",
        "https://api.pinboard.in",
        "/v1/posts/add",
    )
    assert requests.query == {
        "auth_token": "ada:1234",
        "format": "json",
        "url": URL,
        "description": "x" * 255,
        "tags": "rain after-work",
        "toread": "yes",
        "shared": "no",
    }
    outcome, _ = hand_over(site, "pinboard", settings, saved())
    assert "item already exists" in outcome.error_text


def test_omnivore_gets_graphql(site: Publisher) -> None:
    done = {"data": {"saveUrl": {"url": "https://omnivore.example/me/rain", "clientRequestId": DELIVERY}}}
    wrong = {"data": {"saveUrl": {"errorCodes": ["UNAUTHORIZED"], "message": "unauthorized"}}}
    site.script("/api/graphql", says(done), says(wrong), says({"errors": [{"message": "no such field"}]}))
    settings = {"url": site.url("/api/graphql"), "api_key": "key-1", "tags": "rain"}

    outcome, (requests,) = hand_over(site, "omnivore", settings, saved())

    assert outcome.is_delivered
    assert (requests.method, requests.headers["authorization"]) == ("POST", "key-1")
    assert "mutation SaveUrl($input: SaveUrlInput!)" in requests.body["query"]
    assert requests.body["variables"]["input"] == {
        "clientRequestId": DELIVERY,
        "source": "api",
        "url": URL,
        "labels": [{"name": "rain"}],
    }
    for said in ("unauthorized", "no such field"):
        outcome, _ = hand_over(site, "omnivore", settings, saved())
        assert said in outcome.error_text


@pytest.mark.parametrize(
    ("name", "path", "answer", "said"),
    [
        ("cubox", "/c/api/save/s3cret", {"code": -4004, "message": "Link expired."}, "Link expired"),
        ("archive", "/save", {"status": "error", "message": "blocked by robots"}, "blocked by robots"),
    ],
)
def test_an_error_in_a_response_with_status_200_is_a_failure(
    name: str, path: str, answer: Any, said: str, site: Publisher
) -> None:
    case = next(case for case in CASES if case.name == name)
    site.script(path, says(answer))

    outcome, _ = hand_over(site, name, settings_of(case, site), saved())

    assert outcome.error_text.endswith(f" and says: {said}.")


def test_a_redirect_of_betula_to_the_login_is_a_failure(site: Publisher) -> None:
    site.redirect("/save-link", to="/login", status=303)

    outcome, _ = hand_over(site, "betula", {"url": site.origin, "token": "old"}, saved())

    assert "sign-in" in outcome.error_text


def test_every_service_is_tested() -> None:
    elsewhere = {"webhook", "custom", "shaarli", "pinboard", "omnivore"}

    assert {case.name for case in CASES} | elsewhere == PROVIDERS_BY_EVENT["save_entry"]
