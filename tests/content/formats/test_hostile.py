"""Hostile documents: they are parsed or refused quickly, and load nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from content.formats.documents import atom, feed, rss
from support.scaling import TIMES, assert_linear
from tidings.content.errors import FeedError
from tidings.content.formats import detect_format

pytestmark = pytest.mark.slow

# Of the larger one of two documents, in characters.
SIZE = 600_000


def fill(piece: str, size: int) -> str:
    return piece * (size // len(piece))


def inside_title(piece: str, size: int) -> str:
    return rss(f"<item><guid>1</guid><title>{fill(piece, size)}</title></item>")


def inside_description(piece: str, size: int) -> str:
    return rss(f"<item><guid>1</guid><description>{fill(piece, size)}</description></item>")


# By name, what makes a document of about so many characters.
HOSTILE: dict[str, Callable[[int], str]] = {
    "deep": lambda size: "<rss>" * (size // 6),
    "deep and closed": lambda size: "<feed>" * (size // 6) + "</feed>" * (size // 6),
    "deep content": lambda size: inside_description("<div>", size) + "</div>" * (size // 6),
    "deep xhtml": lambda size: atom('<entry><id>1</id><content type="xhtml">' + "<div>" * (size // 6)),
    "deep but allowed": lambda size: atom(
        f'<entry><id>1</id><content type="xhtml">{"<div>" * (size // 315)}x{"</div>" * (size // 315)}</content></entry>'
    ),
    "items in items": lambda size: "<rss><channel>" + fill("<item>", size),
    "channels": lambda size: "<rss>" + fill("<channel><item><guid>1</guid></item></channel>", size),
    "angle brackets": lambda size: "<rss>" + fill("<", size),
    "beginnings of tags": lambda size: "<rss>" + fill("<a ", size),
    "open quotes": lambda size: "<rss>" + fill("<a x='", size),
    "open quotes of both kinds": lambda size: "<rss>" + fill("<a x='\" ", size),
    "open comments": lambda size: "<rss>" + fill("<!--", size),
    "open sections": lambda size: "<rss>" + fill("<![CDATA[", size),
    "sections and items": lambda size: "<rss>" + fill("<![CDATA[</item><item>", size),
    "open instructions": lambda size: "<rss>" + fill("<?", size),
    "close tags": lambda size: "<rss>" + fill("</a", size),
    "stray close tags": lambda size: "<rss><channel><item>" + fill("</channel>", size),
    "ampersands": lambda size: "<rss>" + fill("&", size) + "</rss>",
    "references": lambda size: "<rss>" + fill("&#x;&#1;&abc", size) + "</rss>",
    "long names": lambda size: "<rss " + "a" * size + ">x",
    "attributes": lambda size: (
        "<rss " + " ".join(f"a{number}='x'" for number in range(size // 8)) + "><channel/></rss>"
    ),
    "attributes without values": lambda size: "<rss " + fill("a=", size) + ">x",
    "junk before the root": lambda size: fill("<!DOCTYPE [", size) + "<rss/>",
    "comments before the root": lambda size: fill("<!--", size) + "<rss/>",
    "declarations": lambda size: "<!DOCTYPE x [" + fill('<!ENTITY a "', size) + "]><rss>",
    "title of brackets": lambda size: inside_title("&lt;b", size),
    "title of tags": lambda size: inside_title("&lt;b&gt;", size),
    "title of ampersands": lambda size: inside_title("&amp;amp;", size),
    "title of blanks": lambda size: inside_title(" \n", size),
    "description of comments": lambda size: inside_description("&lt;!--", size),
    "description of scripts": lambda size: inside_description("&lt;script", size),
    "html title": lambda size: atom(f'<entry><id>1</id><title type="html">{fill("&lt;!--", size)}</title></entry>'),
    "one guid": lambda size: rss(fill("<item><guid>1</guid><title>t</title></item>", size)),
    "distinct names": lambda size: rss("<item>" + "".join(f"<n{number}/>" for number in range(size // 10)) + "</item>"),
    "namespaces": lambda size: rss("".join(f'<x:a xmlns:x="urn:{number}"/>' for number in range(size // 30))),
    "long numbers": lambda size: rss(f"<item><pubDate>{'1' * 9}{fill('1', size)}</pubDate><guid>1</guid></item>"),
    "odd dates": lambda size: rss(
        "".join(f"<item><guid>{n}</guid><pubDate>{n} {'1:' * 90}</pubDate></item>" for n in range(size // 300))
    ),
    "deep json": lambda size: '{"items": ' + "[" * (size // 6),
    "json objects": lambda size: '{"items": [' + fill("{},", size) + "{}]}",
    "json of openings": lambda size: '{"items": [' + fill('{"a":', size),
    "json of damages": lambda size: '{"items": [' + fill('{"a" }, ', size),
    "json number": lambda size: '{"version": "jsonfeed", "items": [{"id": ' + "9" * (size // 6) + "}]}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_is_parsed_in_linear_time(name: str) -> None:
    bodies = {size: HOSTILE[name](size).encode() for size in (SIZE // TIMES, SIZE)}

    def read(size: int) -> None:
        with suppress(FeedError):
            feed(bodies[size])
        detect_format(bodies[size])

    assert_linear(read, SIZE // TIMES)


def test_nested_entities_are_not_expanded() -> None:
    declared = '<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )

    (entry,) = feed(f"<!DOCTYPE rss [{declared}]>" + rss("<item><title>&i;</title><guid>1</guid></item>")).entries

    assert entry.title == "&i;"


def test_a_long_entity_used_often_stays_within_a_budget() -> None:
    document = f'<!DOCTYPE rss [<!ENTITY a "{"x" * 1900}">]>' + inside_title("&a;", SIZE)

    (entry,) = feed(document).entries

    assert len(entry.title) < 3_000_000


def test_nothing_is_read_from_disk_or_network() -> None:
    document = (
        '<!DOCTYPE rss SYSTEM "http://127.0.0.1:9/x.dtd" [<!ENTITY f SYSTEM "file:///etc/hostname">'
        '<!ENTITY % p SYSTEM "http://127.0.0.1:9/p">%p;]>'
        + rss('<item><title>&f;</title><guid>1</guid></item><x:include xmlns:x="http://www.w3.org/2001/XInclude"/>')
    )

    assert feed(document).entries[0].title == "&f;"
