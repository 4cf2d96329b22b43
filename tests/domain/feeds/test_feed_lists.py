"""Reading lists of feeds: plain text with one address on each line, or OPML."""

from __future__ import annotations

import pytest

from tidings.base.errors import InvalidInput
from tidings.domain.feeds import feed_lists
from tidings.domain.feeds.opml import MAX_FEEDS


def read(text: str) -> tuple[list[str], list[tuple[int, str, str]]]:
    """Return the addresses, and line, text and reason of each problem."""
    found = feed_lists.read(text.encode())
    problems = [(one.line, one.name, one.reason.english()) for one in found.unusable]
    return [one.values["feed_url"] for one in found.subscriptions], problems


def test_each_line_is_an_address_and_comments_are_skipped() -> None:
    text = (
        "# News <of the harbour>\r\n\r\n  HTTPS://a.example/feed.xml \r\n"
        "https://b.example/atom#top\t# the fragment stays\nfeed://c.example/\r#https://gone.example/\n"
    )

    assert read(text) == (["https://a.example/feed.xml", "https://b.example/atom#top", "https://c.example/"], [])


def test_a_line_that_is_not_an_address_is_a_problem_and_the_others_are_read() -> None:
    urls, problems = read("https://a.example/\nb.example\nhttps://\nhttps://c.example/two words")

    assert urls == ["https://a.example/", "https://c.example/two%20words"]
    assert [(line, name) for line, name, _ in problems] == [(2, "b.example"), (3, "https://")]
    assert {reason for *_, reason in problems} == {"give a complete address that begins with http:// or https://."}


def test_credentials_are_not_part_of_the_address() -> None:
    (found,) = feed_lists.read(b"https://me:secret@a.example/feed").subscriptions

    assert (found.values["feed_url"], found.values["username"]) == ("https://a.example/feed", "me")
    assert found.values["title"] == "https://a.example/feed"


@pytest.mark.parametrize("mark", ["utf-8-sig", "utf-16"])
def test_a_file_with_a_byte_order_mark_is_read(mark: str) -> None:
    (found,) = feed_lists.read("https://a.example/\n".encode(mark)).subscriptions

    assert found.values["feed_url"] == "https://a.example/"


def test_an_opml_document_is_read_as_such() -> None:
    (found,) = feed_lists.read(
        b'<opml><body><outline text="A" xmlUrl="https://a.example/"/></body></opml>'
    ).subscriptions

    assert found.values["title"] == "A"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\nhello\nthere", "Line 3: this is neither an OPML document nor a list of addresses, one on each line."),
        ("# only a comment\n", "there is no <opml> element"),
        ("", "The document is empty"),
        ("https://a.example/\n<p>https://b.example/</p>", "this is not an OPML document"),
        ("https://a.example/\n" * (MAX_FEEDS + 1), "more than 50000 lines"),
    ],
)
def test_what_is_not_a_list_says_so(text: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        feed_lists.read(text.encode())

    assert message in caught.value.text.english()
