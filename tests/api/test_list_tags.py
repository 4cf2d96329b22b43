"""Lists that clients ask for with If-None-Match (docs/api.md): the answer 304 is common, and never wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from greader.apps import App
from support.people import HttpResponse, Person, call, rss
from support.publisher import Publisher
from support.resource_factory import BODIES, ResourceFactory
from tidings.api.openapi import operations_of
from tidings.greader.routes import READER_ROUTES
from tidings.http.endpoints import Conditional
from tidings.http.responses import is_known
from tidings.wiring.routes import API_ROUTES

CONDITIONAL = [route for route in API_ROUTES if route.conditional]
OF_READER = [route for route in READER_ROUTES if route.conditional]
_OF_CHECKS = re.compile(r'"(?:checked_at|next_check_at|etag_header|last_modified_header)":"[^"]*"')
# Each OPML document says when it was made.
_OF_OPML = re.compile(r"<dateCreated>[^<]*</dateCreated>")


class Lists:
    """All lists of a user that have tags."""

    def __init__(self, person: Person, resources: ResourceFactory) -> None:
        self.person = person
        self._app = App(person).sign_in()
        self._paths = [
            re.sub(r"\{(\w+)\}", lambda match: resources.named(match[1]), route.path) for route in CONDITIONAL
        ]
        self._paths += ["/v1/entries?limit=1001", "/v1/entries?query=is:unread", "/v1/categories?counts=true"]
        self._last = self.read()

    def read(self) -> dict[str, HttpResponse]:
        of_api = {path: self.ask(path) for path in self._paths}
        return of_api | {route.path: self.ask(route.path) for route in OF_READER}

    def ask(self, path: str, headers: Mapping[str, str] | None = None, method: str = "GET") -> HttpResponse:
        credentials = (
            {"X-Auth-Token": self.person.token}
            if path.startswith("/v1/")
            else {"Authorization": f"GoogleLogin auth={self._app.token}"}
        )
        return call(self.person.service.url, method, path, headers={**credentials, **(headers or {})})

    def changed(self) -> set[str]:
        """Return the lists that have changed since the last call. Their tags have, too."""
        before, self._last = self._last, self.read()
        changed = {path for path, answer in self._last.items() if shown(answer) != shown(before[path])}
        wrong = {
            path for path in changed if "etag" in (old := before[path].headers) and old["etag"] == tag(self._last[path])
        }
        assert wrong == set()
        return changed


def tag(answer: HttpResponse) -> str | None:
    return answer.headers.get("etag")


def shown(answer: HttpResponse) -> tuple[int, str]:
    """Return status and body, without what may be older than its tag."""
    return answer.status, _OF_OPML.sub("", _OF_CHECKS.sub("", answer.body.decode()))


def ask_again(lists: Lists, path: str, method: str = "GET") -> HttpResponse:
    """Ask for a list with the tag that it has. Some tags last until the hour ends, which may be now: once more then."""
    known = tag(lists.ask(path))
    assert known is not None, path
    answer = lists.ask(path, {"If-None-Match": known}, method)
    new = tag(answer) or known
    return answer if new == known else lists.ask(path, {"If-None-Match": new}, method)


@pytest.fixture
def resources(alice: Person, site: Publisher) -> ResourceFactory:
    return ResourceFactory(alice, site)


@pytest.fixture
def lists(alice: Person, resources: ResourceFactory) -> Lists:
    resources.id_of("view_id")
    return Lists(alice, resources)


def test_a_client_that_has_a_list_is_told_that_nothing_has_changed(lists: Lists) -> None:
    for path, answer in lists.read().items():
        again = ask_again(lists, path)

        assert (again.status, again.body) == (304, b""), path
        for headers in (answer.headers, again.headers):
            assert headers["cache-control"] == "private, no-cache", path
            assert "Accept-Encoding" in headers["vary"], path
            assert headers["etag"].startswith('W/"'), path
        assert ask_again(lists, path, "HEAD").status == 304, path
        assert lists.ask(path, {"If-None-Match": 'W/"other"'}).status == 200, path
        assert lists.ask(path, {"If-None-Match": "*"}).status == 304, path


def test_a_user_never_gets_another_users_list_confirmed(alice: Person, bob: Person, site: Publisher) -> None:
    answer = alice.call("GET", "/v1/categories")
    theirs = {"X-Auth-Token": bob.token, "If-None-Match": answer.headers["etag"]}

    assert call(bob.service.url, "GET", "/v1/categories", headers=theirs).status == 200


def test_what_fails_has_no_tag_and_is_not_confirmed(alice: Person) -> None:
    known = {"If-None-Match": f"*, {alice.call('GET', '/v1/feeds').headers['etag']}"}
    url = alice.service.url

    for path, status in (("/v1/feeds", 401), ("/v1/export", 401), ("/reader/api/0/tag/list", 401)):
        answer = call(url, "GET", path, headers={**known, "X-Auth-Token": "wrong"})
        assert (answer.status, tag(answer)) == (status, None)
        assert answer.headers.get("cache-control") != "private, no-cache"
    for path, status in (("/v1/feeds/2147483000/entries", 400), ("/v1/views/2147483000/ids", 404)):
        answer = call(url, "GET", path, headers={"If-None-Match": "*", "X-Auth-Token": alice.token})
        assert (answer.status, tag(answer)) == (status, None)


def test_a_list_that_changes_with_time_has_no_tag(alice: Person) -> None:
    for query in ("published:7d", "is:unread published:today", "-(added:..1h)"):
        assert tag(alice.call("GET", "/v1/entries", query=query)) is None, query
        assert tag(alice.call("GET", "/v1/entries/ids", query=query)) is None, query
    assert tag(alice.call("GET", "/v1/entries", query="published:2026-01")) is not None

    recent = alice.post("/v1/views", {"name": "Recent", "query": "published:7d", "in_apps": True})
    alice.post("/v1/views", {"name": "Rain", "query": "S:Recent rain"})
    assert tag(alice.call("GET", f"/v1/views/{recent['id']}/entries")) is None
    assert tag(alice.call("GET", "/v1/entries", query="S:Rain")) is None
    app = App(alice).sign_in()
    for path in ("/reader/api/0/unread-count", "/reader/api/0/tag/list"):
        answer = call(alice.service.url, "GET", path, headers={"Authorization": f"GoogleLogin auth={app.token}"})
        assert (answer.status, tag(answer)) == (200, None)
        assert answer.headers["cache-control"] == "no-store"


def test_a_tag_stands_for_the_settings_and_the_kind_of_client(alice: Person) -> None:
    known = tag(alice.call("GET", "/v1/feeds"))
    alice.put(f"/v1/users/{alice.id}", {"timezone": "Asia/Tokyo"}, status=201)
    in_tokyo = tag(alice.call("GET", "/v1/feeds"))
    with_objects = call(
        alice.service.url,
        "GET",
        "/v1/feeds",
        headers={"X-Auth-Token": alice.token, "User-Agent": "ReactFlux"},
    )

    assert len({known, in_tokyo, tag(alice.call("GET", "/v1/feeds", counts="true"))}) == 3
    assert tag(with_objects) is not None


@pytest.mark.slow
@pytest.mark.one_engine
def test_whatever_the_api_changes_in_a_list_changes_its_tag(lists: Lists, resources: ResourceFactory) -> None:
    effective = set()
    for method in ("PUT", "POST", "DELETE"):
        for name, route in operations_of(API_ROUTES).items():
            if route.method != method or name == "delete_user":
                continue
            path = re.sub(r"\{(\w+)\}", lambda match: resources.named(match[1]), route.path)
            body = resources.body(name) if name in BODIES else None
            raw = {"raw": body.encode()} if isinstance(body, str) else {"body": body}
            lists.person.call(method, path, **raw)
            if lists.changed():
                effective.add(name)
    assert effective >= {
        "update_entries",
        "toggle_star",
        "update_entry",
        "update_enclosure",
        "update_feed",
        "create_feed",
        "create_category",
        "update_category",
        "delete_category",
        "update_label",
        "delete_label",
        "update_view",
        "mark_user_read",
        "import_entry",
    }


@pytest.mark.slow
@pytest.mark.one_engine
def test_whatever_an_app_changes_in_a_list_changes_its_tag(lists: Lists, resources: ResourceFactory) -> None:
    app = App(lists.person).sign_in()
    feed, entry = f"feed/{resources.id_of('feed_id')}", str(resources.id_of("entry_id"))
    requests = {
        "edit-tag": {"i": entry, "a": "user/-/state/com.google/starred"},
        "mark-all-as-read": {"s": "user/-/state/com.google/reading-list"},
        "rename-tag": {"s": "user/-/label/Umbrellas", "dest": "user/-/label/Coats"},
        "disable-tag": {"s": "user/-/label/Coats"},
        "subscription/edit": {"ac": "edit", "s": feed, "t": "Another name"},
    }
    for path, fields in requests.items():
        app.post(path, fields)
        assert lists.changed(), path


def test_a_check_that_the_user_asked_for_is_seen_immediately(lists: Lists, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One"])
    lists.changed()
    before = lists.ask("/v1/feeds")

    alice.put(f"/v1/feeds/{feed['id']}/refresh")

    after = lists.ask("/v1/feeds", {"If-None-Match": before.headers["etag"]})
    assert after.status == 200
    assert after.json() != before.json()

    site.serve(feed["feed_url"].removeprefix(site.url("")), rss(["Two", "One"], feed["feed_url"]))
    alice.put(f"/v1/feeds/{feed['id']}/refresh")

    assert lists.changed() >= {"/v1/entries", "/v1/feeds/counters", "/v1/entries/ids"}


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ('W/"a"', True),
        ('"a"', True),
        ('"b", W/"a"', True),
        ('W/"b","a"', True),
        ('W/"b"', False),
        ("", False),
        ("a", False),
        ('W/"a', False),
        ('"b, a"', False),
    ],
)
def test_tags_are_compared_weakly(header: str, expected: bool) -> None:
    assert is_known('W/"a"', header) is expected


def test_lists_that_show_when_feeds_were_checked_say_so() -> None:
    embedding = {route.path for route in CONDITIONAL if "style" in route.handler.__annotations__}
    assert embedding == {route.path for route in CONDITIONAL if route.conditional is Conditional.EXCEPT_CHECKS}
