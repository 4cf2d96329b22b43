"""What holds for every route: strangers see nothing of others, and no request is a failure of ours."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from greader.apps import KEPT_UNREAD, MOUNTS, READ, READING_LIST, STARRED, App, label, long_id, with_password
from support.people import Person, call
from support.publisher import Publisher
from support.random_examples import examples
from support.resource_factory import OPML, UNKNOWN
from tidings.greader.routes import READER_ROUTES

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

PREFIX = "/reader/api/0/"
ALL = sorted({(route.method, route.path) for route in READER_ROUTES if route.path.startswith(PREFIX)})
OPEN = {route.path for route in READER_ROUTES if route.is_public}
# By the path of a route: forms in which things of another user are named.
NAMED: dict[str, list[dict[str, str]]] = {
    "stream/contents": [{"s": "feed/{feed}"}, {"s": "feed/{url}"}, {"s": "user/{user}/label/{folder}"}],
    "stream/contents/{stream:path}": [{"xt": "feed/{feed}"}],
    "stream/items/ids": [{"s": "feed/{feed}"}, {"s": READING_LIST, "it": "feed/{url}"}, {"s": "user/-/label/{folder}"}],
    "stream/items/count": [{"s": "feed/{feed}"}, {"s": "user/-/label/{folder}"}],
    "stream/items/contents": [{"i": "{entry}"}],
    "edit-tag": [{"i": "{entry}", "a": READ}, {"i": "{entry}", "a": STARRED}],
    "mark-all-as-read": [{"s": "feed/{feed}"}, {"s": "feed/{url}"}, {"s": "user/{user}/label/{folder}"}],
    "rename-tag": [{"s": "user/{user}/label/{folder}", "dest": "user/{user}/label/Mine"}],
    "disable-tag": [{"s": "user/{user}/label/{folder}"}],
    "subscription/edit": [
        {"ac": "unsubscribe", "s": "feed/{feed}"},
        {"ac": "unsubscribe", "s": "feed/{url}"},
        {"ac": "edit", "s": "feed/{feed}", "t": "Mine"},
        {"ac": "edit", "s": "feed/{own}", "r": "user/-/label/{folder}"},
    ],
}
# Routes whose requests name nothing of any user.
WITHOUT_NAMES = {
    "friend/list", "preference/list", "preference/stream/list", "subscription/export", "subscription/import",
    "subscription/list", "subscription/quickadd", "tag/list", "token", "unread-count", "user-info",
}  # fmt: skip


@pytest.fixture(params=MOUNTS, ids=["root", "freshrss"])
def app(request: pytest.FixtureRequest, alice: Person) -> App:
    """An app at each of the paths of the API."""
    return with_password(alice, request.param)


def everything(person: Person) -> list[Any]:
    return [person.get(path) for path in ("/v1/feeds", "/v1/categories?counts=true", "/v1/entries")]


def test_this_module_covers_every_route() -> None:
    assert {path.removeprefix(PREFIX) for _, path in ALL} == {*NAMED, *WITHOUT_NAMES}
    assert {"/", "/accounts/ClientLogin", "/check/compatibility"} == OPEN


@pytest.mark.parametrize("mount", MOUNTS)
def test_every_route_requires_a_token(alice: Person, mount: str) -> None:
    headers: dict[str, str]
    for method, path in ALL:
        place = mount + path.replace("{stream:path}", "feed/1")
        for headers in ({}, {"X-Auth-Token": alice.token}, {"Authorization": "GoogleLogin auth=alice/0"}):
            answer = call(alice.service.url, method, place, b"" if method == "POST" else None, headers)

            assert (answer.status, answer.body) == (401, b"Unauthorized"), path
            assert answer.headers["x-reader-google-bad-token"] == answer.headers["google-bad-token"] == "true", path


@pytest.mark.parametrize("who", ["bob", "charlie"])
@pytest.mark.parametrize(("method", "path"), [one for one in ALL if one[1].removeprefix(PREFIX) in NAMED])
def test_a_stranger_cannot_tell_what_exists(
    method: str, path: str, who: str, alice: Person, site: Publisher, request: pytest.FixtureRequest
) -> None:
    stranger: Person = request.getfixturevalue(who)
    app = App(stranger).sign_in()
    folder = alice.has_category("Alice's own")
    feed, own = alice.has_feed(site, category_id=folder["id"]), stranger.has_feed(site)
    theirs = {"feed": feed["id"], "url": feed["feed_url"], "folder": "Alice's own", "entry": alice.entries()[0]["id"]}
    nothing = {"feed": UNKNOWN, "url": site.url("/nothing.xml"), "folder": "Nobody's own", "entry": UNKNOWN}
    before = everything(alice)

    for fields in NAMED[path.removeprefix(PREFIX)]:
        answers = []
        for named in (theirs, nothing):
            known = {**named, "user": alice.id, "own": own["id"]}
            sent = {name: value.format_map(known) for name, value in fields.items()}
            where = path.removeprefix(PREFIX).replace("{stream:path}", f"feed/{known['feed']}")
            answer = app.call(method, where, query=sent) if method == "GET" else app.call(method, where, sent)
            text = re.sub(rf'{known["feed"]}|"updated":[0-9]+', "#", answer.body.decode())
            answers.append((answer.status, answer.headers["content-type"], text))
        assert answers[0] == answers[1], fields
    assert everything(alice) == before


def test_lists_contain_no_data_of_other_users(app: App, alice: Person, bob: Person, bobs: App, site: Publisher) -> None:
    alice.has_feed(site, category_id=alice.has_category("Alice's own")["id"])
    bob.has_feed(site)
    assert "Alice" in app.call("GET", "tag/list").body.decode()
    for path in ("subscription/list", "tag/list", "unread-count", "stream/items/ids", "stream/contents"):
        assert "Alice" not in bobs.call("GET", path).body.decode()
    assert set(bobs.ids()).isdisjoint(app.ids())
    assert b"Alice" not in bobs.call("GET", "subscription/export").body


_STREAMS = st.sampled_from([
    "", READING_LIST, READ, STARRED, KEPT_UNREAD, label("All"), label("x" * 600), "feed/1", "feed/0", "feed/-1",
    "feed/99999999999999999999", "feed/http://127.0.0.1:1/", "feed/\0", "user/", "user//label/", "user/-/label/\0",
    "user/-/state/com.google/like", "user/-/state/org.freshrss/important", "x", "%", "feed/\ud7ff", "feed/٣",
])  # fmt: skip
_NUMBERS = st.sampled_from(["", "0", "1", "-1", "20", "1e9", "9" * 19, "9" * 30, "x", "٣", "1700000000"])
_IDS = st.sampled_from(["", "0", "1", "-1", "x", long_id(1), f"{1:016x}", "f" * 16, "9" * 19, "tag:google.com,2005"])
_TEXTS = st.one_of(st.text(max_size=30), _STREAMS, _NUMBERS)
_VALUES: dict[str, st.SearchStrategy[str]] = {
    **dict.fromkeys(("s", "it", "xt", "a", "r", "dest", "t"), st.one_of(_STREAMS, _TEXTS)),
    **dict.fromkeys(("n", "c", "ot", "nt", "ts", "ck"), st.one_of(_NUMBERS, _TEXTS)),
    "i": st.one_of(_IDS, _TEXTS),
    "ac": st.sampled_from(["edit", "unsubscribe", "subscribe", "", "x"]),
    "T": st.sampled_from(["", "x", "{token}"]),
    "output": st.sampled_from(["json", "xml", ""]),
    "quickadd": st.sampled_from(["", "http://127.0.0.1:1/", "\0", "feed/", "http://[", "https://x y/"]),
    "Email": _TEXTS,
}
_FIELDS = st.lists(
    st.sampled_from(sorted(_VALUES)).flatmap(lambda name: st.tuples(st.just(name), _VALUES[name])), max_size=6
)
# Routes match no path with a line feed: see the test below.
_IN_PATH = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=20)
_BODIES = st.one_of(st.none(), st.binary(max_size=40), st.just(OPML.encode()))


@pytest.fixture
def fuzzed(alice: Person, site: Publisher) -> App:
    alice.has_feed(site)
    return App(alice).sign_in()


@settings(max_examples=examples(75), suppress_health_check=list(HealthCheck))
@given(
    route=st.sampled_from(ALL),
    query=_FIELDS,
    fields=_FIELDS,
    body=_BODIES,
    stream=st.one_of(_STREAMS, _IN_PATH),
)
def test_no_request_causes_a_server_error(
    fuzzed: App,
    route: tuple[str, str],
    query: list[tuple[str, str]],
    fields: list[tuple[str, str]],
    body: bytes | None,
    stream: str,
) -> None:
    method, path = route
    where = path.removeprefix(PREFIX).replace("{stream:path}", quote(stream, safe="/:"))
    in_query, in_form = (
        [(name, value.replace("{token}", fuzzed.token)) for name, value in pairs] for pairs in (query, fields)
    )
    answer = fuzzed.call(method, where, in_form, query=in_query, raw=body)

    assert answer.status in (200, 400, 401, 404), answer
    if answer.status != 200:
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert len(answer.body.splitlines()) == 1


def test_a_form_may_have_several_parts(app: App, alice: Person) -> None:
    """As Readrops sends it."""
    body = b'--x\r\nContent-Disposition: form-data; name="T"\r\n\r\nwrong\r\n--x--\r\n'
    headers = {"Authorization": f"GoogleLogin auth={app.token}", "Content-Type": "multipart/form-data; boundary=x"}
    for path in (path for method, path in ALL if method == "POST"):
        place = app.mount + path.replace("{stream:path}", "feed/1")

        answer = call(alice.service.url, "POST", place, body, headers)

        # The edit token was read; where the body is a document, it stands in the query.
        assert answer.status == (400 if path.endswith("import") else 401), (path, answer)


def test_a_line_feed_in_a_path_causes_no_server_error(app: App) -> None:
    for path in ("stream/contents/%0A0", "stream/contents/feed/1%0A", "%0A", "tag/list%0A"):
        assert app.call("GET", path).status in (200, 303, 404), path


@settings(max_examples=examples(25), suppress_health_check=list(HealthCheck))
@given(header=st.text(st.characters(max_codepoint=255, exclude_categories=["Cc"]), max_size=40), email=_TEXTS)
def test_no_login_causes_a_server_error(fuzzed: App, header: str, email: str) -> None:
    sent = {"Authorization": f"GoogleLogin auth={header.strip()}"}

    assert fuzzed.call("GET", "tag/list", headers=sent).status == 401
    assert fuzzed.login(Email=email, Passwd="").status in (400, 401)
