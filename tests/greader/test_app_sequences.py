"""The requests of known apps, in their order and spelling, and what each insists on.

Gathered from the apps' sources in November 2026; those of closed apps (Reeder, FeedMe, News+) from descriptions.
"""

from __future__ import annotations

import json
import re
from urllib.parse import quote, urlencode

import pytest

from greader.apps import FORM, KEPT_UNREAD, READ, READING_LIST, STARRED, App, label, long_id
from support.people import HttpResponse, Person, call
from support.publisher import Publisher

pytestmark = [pytest.mark.one_engine, pytest.mark.slow]

TITLES = ["Rain", "Sun", "Wind"]
FRESHRSS = "/api/greader.php"
TRACKING = "user/-/state/com.google/tracking-kept-unread"


@pytest.fixture
def feed_id(alice: Person, site: Publisher) -> int:
    """Of a feed with three entries, in a folder called Weather."""
    folder = alice.has_category("Weather")
    return int(alice.has_feed(site, TITLES, category_id=folder["id"])["id"])


@pytest.fixture
def password(alice: Person) -> str:
    created: str = alice.post("/v1/api-passwords", {"name": "app"})["password"]
    return created


def entry(alice: Person, title: str) -> dict[str, object]:
    return next(one for one in alice.entries() if one["title"] == title)


def state(alice: Person, title: str) -> tuple[object, object]:
    found = entry(alice, title)
    return found["status"], found["starred"]


def plain(alice: Person, method: str, path: str, body: str = "", **headers: str) -> HttpResponse:
    """A request as an app spells it."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return call(alice.service.url, method, path, body.encode() if method == "POST" else None, sent)


def auth(answer: HttpResponse) -> str:
    assert answer.status == 200, answer
    match = re.search(rb"^Auth=(.+)$", answer.body, re.MULTILINE)
    assert match
    return match[1].decode()


def test_netnewswire(alice: Person, feed_id: int, password: str, site: Publisher) -> None:
    name = alice.user.username
    login = plain(
        alice, "POST", f"{FRESHRSS}/accounts/ClientLogin", f"Email={name}&Passwd={password}", Content_Type=FORM
    )
    app = App(alice, FRESHRSS, auth(login))
    token = app.call("GET", "token").body.decode().strip()
    folders = [tag for tag in app.get("tag/list")["tags"] if tag.get("type") == "folder"]
    assert [tag["id"] for tag in folders] == [label("All"), label("Weather")]
    (subscription,) = app.get("subscription/list")["subscriptions"]
    assert subscription["id"] == f"feed/{feed_id}"
    assert [folder["label"] for folder in subscription["categories"]] == ["Weather"]

    unread = app.ids(READING_LIST, n=1000, xt=READ)
    assert app.ids(STARRED, n=1000) == []
    # Without the zeros before the number.
    ids = [("i", f"tag:google.com,2005:reader/item/{number:x}") for number in unread]
    answer = app.call("POST", "stream/items/contents", [("T", token), ("output", "json"), *ids])
    for item in answer.json()["items"]:
        assert {"id", "title", "published", "timestampUsec", "crawlTimeMsec", "summary", "origin", "categories"} <= set(
            item
        )
        assert item["origin"]["streamId"] == f"feed/{feed_id}"
        assert item["alternate"][0]["href"]

    one = long_id(unread[0])
    assert app.post("edit-tag", [("T", token), ("i", one), ("a", READ)]) == "OK"
    assert app.post("edit-tag", [("T", token), ("i", one), ("a", STARRED)]) == "OK"
    assert state(alice, "Rain") == ("read", True)

    site.serve("/new.xml", "<rss version='2.0'><channel><title>Tides</title></channel></rss>")
    url = site.url("/new.xml")
    added = app.call("POST", "subscription/quickadd", {"T": token, "quickadd": url}).json()
    assert added["numResults"] == 1
    change = {"T": token, "s": added["streamId"], "ac": "subscribe", "t": "My tides"}
    assert app.post("subscription/edit", change) == "OK"
    move = {"T": token, "s": added["streamId"], "ac": "edit", "a": label("Sea"), "r": label("All")}
    assert app.post("subscription/edit", move) == "OK"
    assert app.post("rename-tag", {"T": token, "s": label("Sea"), "dest": label("Ocean")}) == "OK"
    assert app.post("disable-tag", {"T": token, "s": label("Ocean")}) == "OK"
    assert app.post("subscription/edit", {"T": token, "s": added["streamId"], "ac": "unsubscribe"}) == "OK"
    again = app.call("POST", "subscription/quickadd", {"T": token, "quickadd": alice.get("/v1/feeds")[0]["feed_url"]})
    assert again.json()["error"].startswith("Already subscribed! ")


def test_unread(alice: Person, feed_id: int, password: str) -> None:
    """Unread from version 5 on, as an account of FreshRSS. Closed source: what it asks and in what order is assumed."""
    login = App(alice, FRESHRSS).login(Email=alice.user.username, Passwd=password)
    app = App(alice, FRESHRSS, auth(login))
    token = app.call("GET", "token").body.decode().strip()
    assert app.get("user-info")["userName"] == alice.user.username
    (subscription,) = app.get("subscription/list")["subscriptions"]
    assert {"id", "title", "url", "htmlUrl", "iconUrl", "categories"} <= set(subscription)
    assert label("Weather") in [tag["id"] for tag in app.get("tag/list")["tags"]]

    unread, starred = app.ids(READING_LIST, n=10_000, xt=READ), app.ids(STARRED, n=10_000)
    assert (len(unread), starred) == (3, [])
    items = app.contents(unread)
    assert {item["origin"]["streamId"] for item in items} == {f"feed/{feed_id}"}
    ids = [("i", long_id(number)) for number in unread]
    assert app.post("edit-tag", [("T", token), ("a", READ), *ids[:2]]) == "OK"
    assert app.post("edit-tag", [("T", token), ("a", STARRED), ids[0]]) == "OK"
    assert (app.ids(READING_LIST, n=10_000, xt=READ), app.ids(STARRED, n=10_000)) == (unread[2:], unread[:1])

    # It asks for the lists again only if they have changed.
    tag = app.call("GET", "subscription/list", query={"output": "json"}).headers["etag"]
    again = app.call("GET", "subscription/list", query={"output": "json"}, headers={"If-None-Match": tag})
    assert (again.status, again.body) == (304, b"")


def test_reeder(alice: Person, feed_id: int, password: str) -> None:
    login = App(alice, FRESHRSS).login(
        accountType="GOOGLE", service="reader", Email=alice.user.username, Passwd=password, client="Reeder"
    )
    app = App(alice, FRESHRSS, auth(login))
    app.get("subscription/list")
    refs = app.get("stream/items/ids", {"s": READING_LIST, "n": 2500, "xt": READ, "client": "Reeder", "ck": 1})
    ids = [int(ref["id"]) for ref in refs["itemRefs"]]
    # Sixteen digits without anything before them, and x for the edit token.
    sent = [("i", f"{number:016x}") for number in ids]
    answer = app.call("POST", "stream/items/contents", [*sent, ("T", "x")])
    assert [item["title"] for item in answer.json()["items"]] == TITLES

    assert app.post("edit-tag", [*sent[:2], ("a", READ), ("r", KEPT_UNREAD), ("T", "x")]) == "OK"
    assert [state(alice, title)[0] for title in TITLES] == ["read", "read", "unread"]
    assert app.post("edit-tag", [sent[0], ("r", READ), ("a", KEPT_UNREAD), ("T", "x")]) == "OK"
    assert state(alice, "Rain")[0] == "unread"


def test_read_you(alice: Person, feed_id: int, password: str) -> None:
    name = alice.user.username
    form = urlencode(
        {"output": "json", "Email": name, "Passwd": password, "client": "ReadYou", "accountType": "HOSTED"}
    )
    answer = plain(alice, "POST", f"{FRESHRSS}/accounts/ClientLogin", form, Content_Type=FORM)
    token = json.loads(answer.body)["Auth"]
    assert json.loads(answer.body)["SID"] == json.loads(answer.body)["LSID"] == token
    app = App(alice, FRESHRSS, token)
    edit_token = app.call("GET", "token?output=json").body.decode().strip()
    assert app.call("GET", "user-info?output=json").json()["userName"] == name

    for extra in ({"it": KEPT_UNREAD}, {"xt": READ}):
        assert len(app.ids(READING_LIST, n=1000, **extra)) == 3
    assert app.ids(STARRED, n=1000) == []
    ids = app.ids(READING_LIST, n=1000, ot=1_500_000_000)
    pairs = [("i", str(number)) for number in ids] + [("T", edit_token)]
    items = app.call("POST", "stream/items/contents?output=json", pairs).json()["items"]
    assert [item["summary"]["content"] for item in items] == ["About Rain.", "About Sun.", "About Wind."]
    pairs = [("i", long_id(ids[0])), ("a", READ), ("T", edit_token)]
    assert app.post("edit-tag?output=json", pairs) == "OK"
    marked = {"s": f"feed/{feed_id}", "ts": "9007199254740991", "T": edit_token}
    assert app.post("mark-all-as-read?output=json", marked) == "OK"
    assert {state(alice, title)[0] for title in TITLES} == {"read"}


def test_capy_reader(alice: Person, feed_id: int, password: str) -> None:
    app = App(alice, FRESHRSS).sign_in(password)
    stale = app.call("POST", "edit-tag", {"i": "1", "a": READ, "T": "stale"})
    # On this header it asks for another token, and repeats the request.
    assert (stale.status, stale.headers["x-reader-google-bad-token"]) == (401, "true")
    token = app.call("GET", "token").body.decode().strip()
    tags = app.get("tag/list")["tags"]
    assert all(tag["type"] in ("folder", "tag") for tag in tags[1:])
    for subscription in app.get("subscription/list")["subscriptions"]:
        assert all(isinstance(subscription[name], str) for name in ("id", "title", "url", "htmlUrl", "iconUrl"))
    unread = app.ids(READING_LIST, n=10_000, xt=READ)
    answer = app.call("POST", "stream/items/contents", [("i", str(one)) for one in unread] + [("T", token)])
    assert len(answer.json()["items"]) == 3
    fields = {"ac": "edit", "s": f"feed/{feed_id}", "t": "Clouds", "a": label("Sky"), "T": token}
    assert app.post("subscription/edit", fields) == "OK"
    assert alice.get(f"/v1/feeds/{feed_id}")["category"]["title"] == "Sky"


def test_fluent_reader(alice: Person, feed_id: int, password: str) -> None:
    form = f"Email={alice.user.username}&Passwd={quote(password)}&accountType=HOSTED&service=reader"
    answer = plain(alice, "POST", f"{FRESHRSS}/accounts/ClientLogin", form, Content_Type=FORM)
    app = App(alice, FRESHRSS, auth(answer))
    assert app.call("GET", "user-info").status == 200
    assert [tag["id"] for tag in app.get("tag/list")["tags"] if tag.get("type") == "folder"][-1] == label("Weather")
    # Without a stream, from the last id that it knows, in seconds.
    page = app.get("stream/contents", {"ot": 1_500_000_000, "n": 2})
    assert len(page["items"]) == 2
    rest = app.get("stream/contents", {"ot": 1_500_000_000, "n": 2, "c": page["continuation"]})
    assert [len(rest["items"]), rest.get("continuation")] == [1, None]
    assert all(int(item["timestampUsec"]) > 10**15 for item in page["items"])
    unread = app.get("stream/items/ids", {"s": READING_LIST, "xt": READ, "n": 1000})
    assert all(ref["id"].isdigit() for ref in unread["itemRefs"])
    # Changes without an edit token.
    first = unread["itemRefs"][0]["id"]
    assert app.post("edit-tag", {"i": first, "a": STARRED}) == "OK"
    assert app.post("mark-all-as-read", {"s": f"feed/{feed_id}", "ts": "4102444800000000000"}) == "OK"
    assert state(alice, "Rain") == ("read", True)


def test_feedme(alice: Person, feed_id: int, password: str) -> None:
    app = App(alice, FRESHRSS).sign_in(password)
    # Without output=json, and with an empty edit token.
    assert app.call("GET", "user-info").json()["userName"] == alice.user.username
    for stream in (
        "",
        quote(READING_LIST, safe=""),
        quote(f"feed/{feed_id}", safe=""),
        quote(label("Weather"), safe=""),
    ):
        answer = app.call("GET", f"stream/contents/{stream}", query={"n": "50", "xt": READ, "r": "n"})
        assert [item["title"] for item in answer.json()["items"]] == TITLES
    number = entry(alice, "Sun")["id"]
    assert app.post("edit-tag", {"i": long_id(int(str(number))), "a": READ, "T": "", "async": "true"}) == "OK"
    assert state(alice, "Sun")[0] == "read"


def test_vienna(alice: Person, feed_id: int, password: str) -> None:
    form = urlencode(
        {"accountType": "HOSTED_OR_GOOGLE", "service": "reader", "Email": alice.user.username, "Passwd": password}
    )
    answer = plain(alice, "POST", "/accounts/ClientLogin", form, Content_Type=FORM)
    lines = answer.body.decode().splitlines()
    assert [line.partition("=")[0] for line in lines] == ["SID", "LSID", "Auth"]
    app = App(alice, "", auth(answer))
    token = app.call("GET", "token", headers={"User-Agent": "Vienna/8000 (Macintosh)"}).body.decode()
    assert "\n" not in token
    app.get("subscription/list", {"client": "ViennaRSS"})
    path = quote(f"feed/{feed_id}", safe="")
    page = app.get(
        f"stream/contents/{path}", {"client": "ViennaRSS", "comments": "false", "likes": "false", "r": "n", "n": 100}
    )
    assert [item["title"] for item in page["items"]] == TITLES
    starred = app.get("stream/items/ids", {"s": f"user/{alice.id}/state/com.google/starred", "n": 1000})
    assert starred["itemRefs"] == []
    for added in (READ, STARRED):
        assert (
            app.post("edit-tag", {"T": token, "i": page["items"][0]["id"], "a": added, "s": f"feed/{feed_id}"}) == "OK"
        )
    assert state(alice, "Rain") == ("read", True)


def test_news_plus(alice: Person, feed_id: int, password: str) -> None:
    app = App(alice).sign_in(password)
    newsplus = {"client": "newsplus", "output": "json", "ck": "1795000000"}
    assert app.get("subscription/list", newsplus)["subscriptions"]
    assert app.get("tag/list", newsplus)["tags"]
    counts = app.get("unread-count", {**newsplus, "all": "true"})["unreadcounts"]
    assert {part["id"]: part["count"] for part in counts}[f"feed/{feed_id}"] == 3
    ids = app.get("stream/items/ids", {**newsplus, "s": READING_LIST, "xt": READ, "n": 100, "ot": 0})["itemRefs"]
    answer = app.call("POST", "stream/items/contents", [("i", ref["id"]) for ref in ids], query=newsplus)
    assert len(answer.json()["items"]) == 3
    # It keeps 64 characters of the edit token.
    token = app.call("GET", "token", query=newsplus).body.decode()[:64]
    wrong = {"s": label("Weather"), "ts": "0", "T": "x" * 64}
    assert app.call("POST", "mark-all-as-read", wrong, query=newsplus).status == 401
    assert app.post("mark-all-as-read", {"s": label("Weather"), "ts": "0", "T": token}, query=newsplus) == "OK"
    assert {state(alice, title)[0] for title in TITLES} == {"read"}


def test_newsboat_with_the_source_freshrss(alice: Person, feed_id: int, password: str) -> None:
    app = App(alice, FRESHRSS).sign_in(password)
    (subscription,) = app.get("subscription/list")["subscriptions"]
    path = f"stream/contents/{quote(subscription['id'], safe='')}"
    items = app.call("GET", path, query={"n": "20"}).json()["items"]
    first = items[0]
    assert (first["canonical"][0]["href"], first["summary"]["content"]) != ("", "")
    # It compares the whole text, and keeps times in 32 bits.
    assert READ not in first["categories"]
    assert 0 < first["published"] < 2**31
    # The answer as it is, with its line break.
    token = app.call("GET", "token").body.decode()
    assert token.endswith("\n")
    assert (
        app.post("edit-tag", [("i", first["id"]), ("a", READ), ("r", KEPT_UNREAD), ("ac", "edit"), ("T", token)])
        == "OK"
    )
    assert READ in app.call("GET", path).json()["items"][0]["categories"]
    unread = [("i", first["id"]), ("r", READ), ("a", KEPT_UNREAD), ("a", TRACKING), ("ac", "edit"), ("T", token)]
    assert app.post("edit-tag", unread) == "OK"
    assert app.post("mark-all-as-read", {"s": subscription["id"], "T": token}) == "OK"
    assert {state(alice, title)[0] for title in TITLES} == {"read"}


@pytest.mark.parametrize(("mount", "edit_token"), [(FRESHRSS, {}), ("", {"T": "{token}\n"})], ids=["freshrss", "other"])
def test_rss_guard(alice: Person, feed_id: int, password: str, mount: str, edit_token: dict[str, str]) -> None:
    answer = App(alice, mount).login(Email=alice.user.username, Passwd=password)
    values = dict(line.split("=", 1) for line in answer.body.decode().splitlines())
    assert not {values["SID"], values["Auth"]} & {"NA", "unused", "none", "null"}
    app = App(alice, mount, values["Auth"])
    extra = {name: value.replace("{token}", app.token) for name, value in edit_token.items()}
    assert {tag.get("type", "state") for tag in app.get("tag/list")["tags"]} == {"state", "folder"}
    ids = app.ids(f"feed/{feed_id}", n=200_000, xt=READ, ot=0)
    answer = app.call("POST", "stream/items/contents", [("i", long_id(one)) for one in ids], query={"n": "200000"})
    page = answer.json()
    assert [item["id"] for item in page["items"]] == [long_id(one) for one in ids]
    # It would ask for the same again.
    assert "continuation" not in page
    pairs = [("i", long_id(one)) for one in ids]
    assert app.post("edit-tag", [*pairs, ("a", READ), *extra.items()]) == "OK"
    query = {"ac": "edit", "s": f"feed/{feed_id}", "t": "Clouds", "a": label("Sky")}
    assert app.post("subscription/edit", extra, query=query) == "OK"
    assert alice.get(f"/v1/feeds/{feed_id}")["title"] == "Clouds"
    assert {state(alice, title)[0] for title in TITLES} == {"read"}


def test_liferea(alice: Person, feed_id: int, password: str, site: Publisher) -> None:
    form = f"service=reader&Email={alice.user.username}&Passwd={password}&source=liferea&continue=http://www.google.com"
    app = App(alice, "", auth(plain(alice, "POST", "/accounts/ClientLogin", form, Content_Type=FORM)))
    app.get("subscription/list")
    before = app.get("unread-count", {"all": "true", "client": "liferea"})["unreadcounts"]
    assert all(part["newestItemTimestampUsec"].isdigit() for part in before)
    refs = app.get("stream/items/ids", {"client": "liferea", "n": 50, "s": f"feed/{feed_id}", "merge": "true"})[
        "itemRefs"
    ]
    sent = [("i", ref["id"]) for ref in refs]
    items = app.call("POST", "stream/items/contents", sent).json()["items"]
    assert [(item["categories"][0], "marked" in item) for item in items] == [(READING_LIST, False)] * 3
    app.post("edit-tag", [*sent, ("a", READ), ("a", STARRED)])
    agent = {"User-Agent": "Liferea/1.15.8 (Linux; https://lzone.de/liferea/) AppleWebKit (KHTML, like Gecko)"}
    items = app.call("POST", "stream/items/contents", sent, headers=agent).json()["items"]
    # What it looks for in the first category, with these backslashes, and in a member that only it knows.
    state_read = r"user/-/state\/com.google\/read"
    assert [(item["categories"][:2], item["marked"]) for item in items] == [([state_read, READING_LIST], True)] * 3
    app.post("edit-tag", [*sent, ("r", READ), ("r", STARRED)])
    items = app.call("POST", "stream/items/contents", sent, headers=agent).json()["items"]
    assert [(item["categories"][0], item["marked"]) for item in items] == [(READING_LIST, False)] * 3
    for change, status in (("a", "read"), ("r", "unread")):
        # A token before each change.
        token = app.call("GET", "token").body.decode().strip()
        stream = {"i": refs[0]["id"], "s": f"feed/{feed_id}", "T": token, "async": "true", "ac": "edit-tags"}
        assert app.post("edit-tag", {**stream, change: READ}) == "OK"
        assert state(alice, "Rain")[0] == status
    site.serve("/new.xml", "<rss version='2.0'><channel><title>Tides</title></channel></rss>")
    fields = {"s": f"feed/{site.url('/new.xml')}", "i": "null", "ac": "subscribe", "T": app.token}
    assert app.post("subscription/edit", fields) == "OK"


def test_newsflash(alice: Person, feed_id: int, password: str) -> None:
    app = App(alice, FRESHRSS).sign_in(password)
    # It takes the last character away.
    token = app.call("GET", "token").body.decode()[:-1]
    assert all(one["url"] for one in app.get("subscription/list")["subscriptions"])
    answer = app.call("POST", "stream/contents/" + quote(READING_LIST, safe="/"), {"n": "1000", "xt": READ, "T": token})
    items = answer.json()["items"]
    assert [item["title"] for item in items] == TITLES
    assert app.post("edit-tag", {"i": items[0]["id"], "a": READ, "T": token}) == "OK"
    assert app.post("mark-all-as-read", {"s": READING_LIST, "T": token}) == "OK"
    assert {state(alice, title)[0] for title in TITLES} == {"read"}


def id_of(alice: Person, title: str) -> int:
    (number,) = (entry["id"] for entry in alice.entries() if entry["title"] == title)
    return int(number)


def labels_of(app: App, entry_id: int) -> set[str]:
    (item,) = app.contents([entry_id])
    return {name for name in item["categories"] if name.startswith(label(""))} - {label("Weather")}


def test_rss_guard_gives_and_takes_labels_in_batches(alice: Person, feed_id: int, password: str) -> None:
    app = App(alice, FRESHRSS).sign_in(password)
    ids = [id_of(alice, title) for title in TITLES]
    pairs = [("i", long_id(one)) for one in ids]
    for change, expected in (("a", {label("To do")}), ("a", {label("To do")}), ("r", set()), ("r", set())):
        assert app.post("edit-tag", [*pairs, (change, label("To do")), ("ac", "edit")]) == "OK"
        assert [labels_of(app, one) for one in ids] == [expected] * 3
    # It shows labels that no entry has, too.
    tags = {tag["id"]: tag["type"] for tag in app.get("tag/list")["tags"][1:]}
    assert tags == {label("All"): "folder", label("Weather"): "folder", label("To do"): "tag"}


def test_capy_reader_has_labels_as_saved_searches(alice: Person, feed_id: int, password: str) -> None:
    app = App(alice, FRESHRSS).sign_in(password)
    token = app.call("GET", "token").body.decode().strip()
    number = id_of(alice, "Sun")
    assert app.post("edit-tag", {"i": str(number), "a": label("To do"), "T": token}) == "OK"
    (searched,) = [tag["id"] for tag in app.get("tag/list")["tags"] if tag.get("type") == "tag"]
    assert app.ids(searched, n=10_000) == [number]
    assert [item["id"] for item in app.contents(app.ids(searched))] == [long_id(number)]
    assert app.post("rename-tag", {"s": searched, "dest": label("Later"), "T": token}) == "OK"
    assert app.ids(label("Later")) == [number]
    assert app.post("disable-tag", {"s": label("Later"), "T": token}) == "OK"
    assert [tag["id"] for tag in app.get("tag/list")["tags"] if tag.get("type") == "tag"] == []
    assert state(alice, "Sun") == ("unread", False)


def test_news_plus_lists_and_marks_a_label(alice: Person, feed_id: int, password: str) -> None:
    app = App(alice).sign_in(password)
    newsplus = {"client": "newsplus", "output": "json", "ck": "1795000000"}
    number = id_of(alice, "Rain")
    fields = {"i": long_id(number), "a": label("To do"), "T": app.token}
    assert app.post("edit-tag", fields, query=newsplus) == "OK"
    counts = {
        part["id"]: part["count"] for part in app.get("unread-count", {**newsplus, "all": "true"})["unreadcounts"]
    }
    assert counts[label("To do")] == 1
    stream = {**newsplus, "s": label("To do"), "xt": READ, "n": 100, "ot": 0}
    assert [ref["id"] for ref in app.get("stream/items/ids", stream)["itemRefs"]] == [str(number)]
    assert app.post("mark-all-as-read", {"s": label("To do"), "ts": "0", "T": app.token}, query=newsplus) == "OK"
    assert state(alice, "Rain")[0] == "read"
    assert app.get("stream/items/ids", stream)["itemRefs"] == []


def test_apps_of_which_only_the_type_of_account_is_known(alice: Person, feed_id: int, password: str) -> None:
    """FocusReader, lire: what every app with an account type "FreshRSS" needs."""
    app = App(alice, FRESHRSS).sign_in(password)
    token = app.call("GET", "token").body.decode().strip()
    assert app.get("user-info")["userName"] == alice.user.username
    assert [one["id"] for one in app.get("subscription/list")["subscriptions"]] == [f"feed/{feed_id}"]
    unread, starred = app.ids(READING_LIST, n=1_000, xt=READ), app.ids(STARRED, n=1_000)
    assert (len(unread), starred) == (3, [])
    assert {item["title"] for item in app.contents(unread)} == set(TITLES)
    assert app.post("edit-tag", {"i": long_id(unread[0]), "a": STARRED, "T": token}) == "OK"
    assert app.ids(STARRED, n=1_000) == [unread[0]]
    assert app.post("mark-all-as-read", {"s": f"feed/{feed_id}", "T": token}) == "OK"
    assert {state(alice, title)[0] for title in TITLES} == {"read"}
