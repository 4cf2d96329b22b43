"""Hostile documents: they are parsed or refused quickly, and load nothing."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from domain.formats.documents import atom, feed, rss
from tidings.domain.errors import FeedError
from tidings.domain.formats import detect_format

# Per megabyte and in processor time, a generous multiple of what a slow machine needs; quadratic ways take minutes.
SECONDS_PER_MEGABYTE = 8
SIZE = 600_000


def fill(piece: str) -> str:
    return piece * (SIZE // len(piece))


def inside_title(piece: str) -> str:
    return rss(f"<item><guid>1</guid><title>{fill(piece)}</title></item>")


def inside_description(piece: str) -> str:
    return rss(f"<item><guid>1</guid><description>{fill(piece)}</description></item>")


HOSTILE = {
    "deep": "<rss>" * 100_000,
    "deep and closed": "<feed>" * 100_000 + "</feed>" * 100_000,
    "deep content": inside_description("<div>") + "</div>" * 100_000,
    "deep xhtml": atom('<entry><id>1</id><content type="xhtml">' + "<div>" * 100_000),
    "deep but allowed": atom(
        f'<entry><id>1</id><content type="xhtml">{"<div>" * 1900}x{"</div>" * 1900}</content></entry>'
    ),
    "items in items": "<rss><channel>" + fill("<item>"),
    "channels": "<rss>" + fill("<channel><item><guid>1</guid></item></channel>"),
    "angle brackets": "<rss>" + fill("<"),
    "beginnings of tags": "<rss>" + fill("<a "),
    "open quotes": "<rss>" + fill("<a x='"),
    "open quotes of both kinds": "<rss>" + fill("<a x='\" "),
    "open comments": "<rss>" + fill("<!--"),
    "open sections": "<rss>" + fill("<![CDATA["),
    "sections and items": "<rss>" + fill("<![CDATA[</item><item>"),
    "open instructions": "<rss>" + fill("<?"),
    "close tags": "<rss>" + fill("</a"),
    "stray close tags": "<rss><channel><item>" + fill("</channel>"),
    "ampersands": "<rss>" + fill("&") + "</rss>",
    "references": "<rss>" + fill("&#x;&#1;&abc") + "</rss>",
    "long names": "<rss " + "a" * SIZE + ">x",
    "attributes": "<rss " + " ".join(f"a{number}='x'" for number in range(80_000)) + "><channel/></rss>",
    "attributes without values": "<rss " + fill("a=") + ">x",
    "junk before the root": fill("<!DOCTYPE [") + "<rss/>",
    "comments before the root": fill("<!--") + "<rss/>",
    "declarations": "<!DOCTYPE x [" + fill('<!ENTITY a "') + "]><rss>",
    "title of brackets": inside_title("&lt;b"),
    "title of tags": inside_title("&lt;b&gt;"),
    "title of ampersands": inside_title("&amp;amp;"),
    "title of blanks": inside_title(" \n"),
    "description of comments": inside_description("&lt;!--"),
    "description of scripts": inside_description("&lt;script"),
    "html title": atom(f'<entry><id>1</id><title type="html">{fill("&lt;!--")}</title></entry>'),
    "one guid": rss(fill("<item><guid>1</guid><title>t</title></item>")),
    "distinct names": rss("<item>" + "".join(f"<n{number}/>" for number in range(60_000)) + "</item>"),
    "namespaces": rss("".join(f'<x:a xmlns:x="urn:{number}"/>' for number in range(20_000))),
    "long numbers": rss(f"<item><pubDate>{'1' * 9}{fill('1')}</pubDate><guid>1</guid></item>"),
    "odd dates": rss("".join(f"<item><guid>{n}</guid><pubDate>{n} {'1:' * 90}</pubDate></item>" for n in range(2000))),
    "deep json": '{"items": ' + "[" * 100_000,
    "json objects": '{"items": [' + fill("{},") + "{}]}",
    "json of openings": '{"items": [' + fill('{"a":'),
    "json of damages": '{"items": [' + fill('{"a" }, '),
    "json number": '{"version": "jsonfeed", "items": [{"id": ' + "9" * 100_000 + "}]}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_is_parsed_quickly(name: str) -> None:
    body = HOSTILE[name].encode()
    start = time.process_time()

    with suppress(FeedError):
        feed(body)
    detect_format(body)

    assert time.process_time() - start < max(1, len(body) / 1e6 * SECONDS_PER_MEGABYTE)


def test_nested_entities_are_not_expanded() -> None:
    declared = '<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )

    (entry,) = feed(f"<!DOCTYPE rss [{declared}]>" + rss("<item><title>&i;</title><guid>1</guid></item>")).entries

    assert entry.title == "&i;"


def test_a_long_entity_used_often_stays_within_a_budget() -> None:
    document = f'<!DOCTYPE rss [<!ENTITY a "{"x" * 1900}">]>' + inside_title("&a;")

    (entry,) = feed(document).entries

    assert len(entry.title) < 3_000_000


def test_nothing_is_read_from_disk_or_network() -> None:
    document = (
        '<!DOCTYPE rss SYSTEM "http://127.0.0.1:9/x.dtd" [<!ENTITY f SYSTEM "file:///etc/hostname">'
        '<!ENTITY % p SYSTEM "http://127.0.0.1:9/p">%p;]>'
        + rss('<item><title>&f;</title><guid>1</guid></item><x:include xmlns:x="http://www.w3.org/2001/XInclude"/>')
    )

    assert feed(document).entries[0].title == "&f;"
