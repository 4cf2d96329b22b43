"""The folders of other readers become a tree of categories, and leave again as they came."""

from __future__ import annotations

import pytest
from lxml import etree

from support.people import Person, call
from support.publisher import Publisher


def feed(name: str, attributes: str) -> str:
    return f'<outline text="{name}" xmlUrl="http://feeds.example/{name}" {attributes}/>'


# As these readers write folders; each document has the same tree.
FOLDERS = {
    "Tiny Tiny RSS": ('<outline text="{title}" ttrssSortOrder="3">', 'type="rss" ttrssUpdateInterval="0"'),
    "Liferea": (
        '<outline title="{title}" text="{title}" description="{title}" type="folder" id="ab" expanded="true">',
        'title="x" description="x" type="rss" htmlUrl="http://a.example/" updateInterval="-1" id="cd"',
    ),
    "RSS Guard": (
        '<outline xmlns:rssguard="https://github.com/martinrotter/rssguard" text="{title}" rssguard:icon="AAAA">',
        'title="x" type="rss" version="RSS" encoding="UTF-8" description=""',
    ),
    "NewsBlur": ('<outline text="{title}" title="{title}">', 'title="x" type="rss" version="RSS"'),
    "Thunderbird": (
        '<outline title="{title}" text="{title}">',
        'title="x" type="rss" version="RSS" fz:quickMode="false" fz:options="{{}}" xmlns:fz="urn:forumzilla:"',
    ),
}
TREE = {
    "top": ("All",),
    "news": ("News",),
    "france": ("News", "Europe", "France"),
    "asia": ("News", "Asia"),
    "tech": ("Tech",),
    "other": ("Tech", "Europe"),
}


def document(reader: str) -> bytes:
    begin, attributes = FOLDERS[reader]
    folder = {title: begin.format(title=title) for title in ("News", "Europe", "France", "Asia", "Tech")}
    one = {name: feed(name, attributes) for name in TREE}
    end = "</outline>"
    return (
        '<?xml version="1.0"?><opml version="1.0"><head><title>Feeds</title></head><body>'
        f"{one['top']}{folder['News']}{one['news']}{folder['Europe']}{folder['France']}{one['france']}{end}{end}"
        f"{folder['Asia']}{one['asia']}{end}{end}{folder['Tech']}{folder['Europe']}{one['other']}{end}{one['tech']}{end}"
        "</body></opml>"
    ).encode()


def import_document(person: Person, body: bytes) -> None:
    answer = call(person.service.url, "POST", "/v1/import", body, {"X-Auth-Token": person.token})
    assert answer.status == 201, answer.body


def tree_of(person: Person) -> dict[str, tuple[str, ...]]:
    """Return the names above each feed, by the feed's name."""
    categories = {one["id"]: one for one in person.get("/v1/categories")}
    found = {}
    for feed_ in person.get("/v1/feeds"):
        category, names = feed_["category"], []
        while category:
            above = categories.get(category["parent_id"])
            names.append(category["title"].removeprefix(f"{above['title']} / " if above else ""))
            category = above
        found[feed_["feed_url"].rpartition("/")[2]] = tuple(reversed(names))
    return found


@pytest.mark.parametrize("reader", FOLDERS)
def test_a_tree_of_another_reader_survives_a_round_trip(alice: Person, bob: Person, reader: str) -> None:
    import_document(alice, document(reader))
    assert tree_of(alice) == TREE

    exported = alice.call("GET", "/v1/export").body
    import_document(bob, exported)

    assert tree_of(bob) == TREE
    again = bob.call("GET", "/v1/export").body
    assert etree.tostring(etree.fromstring(again)[1]) == etree.tostring(etree.fromstring(exported)[1])
    assert [one.get("text") for one in etree.fromstring(exported)[1]] == ["All", "News", "Tech"]


def test_folders_deeper_than_eight_are_joined_and_known_categories_are_used(alice: Person) -> None:
    # An earlier import made one category of two folders.
    alice.has_category("News / Europe")
    names = [f"f{number}" for number in range(1, 11)]
    deep = "".join(f'<outline text="{name}">' for name in names) + feed("deep", "") + "</outline>" * len(names)
    flat = f'<outline text="news"><outline text="europe">{feed("flat", "")}</outline></outline>'

    import_document(alice, f"<opml><body>{deep}{flat}</body></opml>".encode())

    assert tree_of(alice) == {"deep": (*names[:7], "f8 / f9 / f10"), "flat": ("News / Europe",)}


def test_the_first_of_several_folders_stays_the_first(alice: Person, bob: Person, site: Publisher) -> None:
    """Even where another one comes first in the document."""
    ids = [alice.has_category(title)["id"] for title in ("Arts", "Weather", "Zoo")]
    alice.has_feed(site, category_ids=[ids[1], ids[2], ids[0]])
    alice.has_feed(site, category_ids=[ids[0], ids[1]])
    alice.has_feed(site, category_ids=[ids[2]])

    exported = alice.call("GET", "/v1/export").body
    import_document(bob, exported)

    def first(person: Person) -> list[tuple[str, str, int]]:
        feeds = person.get("/v1/feeds")
        return sorted((one["feed_url"], one["category"]["title"], len(one["category_ids"])) for one in feeds)

    assert first(bob) == first(alice)
    assert {title for _, title, _ in first(bob)} == {"Weather", "Arts", "Zoo"}
    # One that is in a single folder needs no mark.
    assert exported.count(b' tidings:firstCategory="true"') == 2
    unmarked = exported.replace(b' tidings:firstCategory="true"', b"")
    import_document(bob, unmarked.replace(b".xml", b".xml?again"))
    assert {one["category"]["title"] for one in bob.get("/v1/feeds") if "again" in one["feed_url"]} == {"Arts", "Zoo"}
