"""URLs as users and publishers write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.base.errors import InvalidInput
from tidings.net.guard import MAX_URL_CHARS, Target, may_share, parse_target


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("http://example.org", "http://example.org/"),
        ("  https://example.org/feed \n", "https://example.org/feed"),
        ("HTTP://EXAMPLE.org:80/Feed", "http://example.org/Feed"),
        ("https://example.org:8443?page=1#top", "https://example.org:8443/?page=1"),
        ("http://example.org/a b.xml", "http://example.org/a%20b.xml"),
        ("http://example.org/müsli?q=grün", "http://example.org/m%C3%BCsli?q=gr%C3%BCn"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://example.org/%7Ea%2Fb?sig=a%2Fb+c%3D|", "http://example.org/%7Ea%2Fb?sig=a%2Fb+c%3D|"),
        ("http://example.org/100%", "http://example.org/100%"),
        ("http://example.org/a/../b/./c.xml?d=/../e", "http://example.org/b/c.xml?d=/../e"),
        ("http://example.org/a/b/%2E%2e", "http://example.org/a/"),
        ("http://example.org/../..", "http://example.org/"),
        ("http://example.org/a//../b/.", "http://example.org/a/b/"),
        ("http://example.org/a/...b/..c/.d", "http://example.org/a/...b/..c/.d"),
        ("http://my_host.example./", "http://my_host.example./"),
        ("http://[2001:DB8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("http://１２７.0.0.1/", "http://127.0.0.1/"),
    ],
)
def test_urls_are_requested_as_written(written: str, asked: str) -> None:
    assert str(parse_target(written)) == asked


@pytest.mark.parametrize(
    "address",
    [
        "",
        "example.org/feed.xml",
        "//example.org/feed.xml",
        "ftp://example.org/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "http:",
        "http://",
        "http:///feed.xml",
        "http:/feed.xml",
        "http://:80/",
        "http://example.org:0/",
        "http://example.org:65536/",
        "http://example.org:http/",
        "http://example.org:-1/",
        "http://exa mple.org/",
        "http://example.org\\@evil.example/",
        "http://exam%70le.org/",
        "http://a..b/",
        "http://.example/",
        "http://-a.example/",
        "http://[::1/",
        "http://[example.org]/",
        "http://[fe80::1%25eth0]/",
        "http://" + "a" * 64 + ".example/",
        "http://" + "a." * 130 + "example/",
        "http://\u200b/",
        "http://example.org/a\r\nHost: evil.example",
        "http://example.org/\x00",
        "http://exam\tple.org/",
        "http://example.org/\udce9",
        "http://example.org/" + "a" * MAX_URL_CHARS,
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.0.1.5/",
    ],
)
def test_invalid_urls_are_refused_with_a_reason(address: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_target(address)

    assert caught.value.field == "url"
    assert caught.value.message.endswith(".")


def test_credentials_are_removed_from_the_url() -> None:
    target = parse_target("https://al%40ice:s%3Acret@example.org/feed")

    assert (target.username, target.password) == ("al@ice", "s:cret")
    assert str(target) == "https://example.org/feed"
    assert "cret" not in repr(target)


@pytest.mark.parametrize(
    ("location", "asked"),
    [
        ("other.xml", "http://example.org/blog/other.xml"),
        ("/other.xml", "http://example.org/other.xml"),
        ("?page=2", "http://example.org/blog/feed.xml?page=2"),
        ("//example.net/x", "http://example.net/x"),
        ("https://example.net/x#here", "https://example.net/x"),
        ("../../../x", "http://example.org/x"),
        ("/caf\udcc3\udca9", "http://example.org/caf%C3%A9"),
        ("/caf\udce9", "http://example.org/caf%E9"),
        ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
    ],
)
def test_a_location_is_resolved_against_its_target(location: str, asked: str) -> None:
    assert str(parse_target("http://example.org/blog/feed.xml").follow(location)) == asked


@pytest.mark.parametrize("location", ["mailto:alice@example.org", "ftp://example.org/", "http://[", "data:,x"])
def test_a_location_outside_the_web_is_refused(location: str) -> None:
    with pytest.raises(InvalidInput):
        parse_target("http://example.org/").follow(location)


@pytest.mark.parametrize(
    ("here", "there", "trusted"),
    [
        ("https://example.org/a", "https://example.org/b?c", True),
        ("https://example.org/", "https://example.org:443/", True),
        ("http://example.org/", "https://example.org/", True),
        ("https://example.org/", "http://example.org/", False),
        ("http://example.org/", "https://example.net/", False),
        ("https://example.org/", "https://www.example.org/", False),
        ("https://example.org/", "https://example.org.evil.example/", False),
        ("http://example.org/", "http://example.org:8080/", False),
        ("http://example.org:8080/", "https://example.org/", False),
        ("http://example.org/", "https://example.org:8443/", False),
    ],
)
def test_only_the_same_origin_is_trusted_with_secrets(here: str, there: str, trusted: bool) -> None:
    assert parse_target(here).trusts(parse_target(there)) is trusted
    assert may_share(here, there) is trusted


def test_an_invalid_url_is_not_trusted() -> None:
    assert not may_share("https://example.org/", "nowhere")
    assert not may_share("nowhere", "nowhere")


@given(st.text())
def test_any_text_is_parsed_or_refused(text: str) -> None:
    for address in (text, f"http://{text}", f"http://example.org/{text}"):
        try:
            target = parse_target(address)
        except InvalidInput:
            continue
        assert isinstance(target, Target)
        assert parse_target(str(target)) == Target(target.url)
        assert str(target).isascii()
        assert not target.url.user
