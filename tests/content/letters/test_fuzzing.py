"""Whatever a message contains, it is read within its limits, or refused with LetterUnreadable."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from tidings.base.times import Instant
from tidings.content import clean
from tidings.content.letters import LetterUnreadable, raw_letter, read_letter

NOW = Instant(1_795_765_000_000_000)
NAMES = st.sampled_from(
    ["From", "Subject", "Date", "Message-ID", "List-Id", "List-Unsubscribe", "Content-Type", "Content-Disposition",
     "Content-Transfer-Encoding", "Content-ID", "Authentication-Results", "Received", "Archived-At"]
)  # fmt: skip
VALUES = st.one_of(
    st.sampled_from(
        ["text/html", "text/plain; charset=utf-7", "multipart/mixed; boundary=b", "multipart/alternative; boundary=b",
         "multipart/related; boundary=b; start=<x>", "message/rfc822", "message/partial",
         "multipart/digest; boundary=b",
         "base64", "quoted-printable", "uuencode", "=?utf-8?b?4", "=?x?q?=FF?= <a@b>",
         "attachment; filename*0*=utf-8''%FF",
         "attachment; filename*=nope'x'%", 'text/html; charset="', "text/html; charset*=a'b'c", "<x>", "a@b.example",
         "Fri, 99 Nov 99999 99:99:99 +9999", "(((", '"\\', "<https://t.example/>, <mailto:x>"]
    ),
    st.text(max_size=60),
    st.binary(max_size=60).map(lambda raw: raw.decode("latin-1")),
)  # fmt: skip
LINES = st.one_of(
    st.tuples(NAMES, VALUES).map(": ".join),
    st.sampled_from(
        ["", "", "--b", "--b--", "begin 644 x", "=", "=E2=82", '<a href="cid:x">', "<table><tr><td>", "<!--", "-->",
         '<div style="max-height:0', "Q2Fm", "<img src=cid:x>", '<a href="https://t.example/c">confirm']
    ),
    st.text(max_size=40),
)  # fmt: skip
MESSAGES = st.one_of(
    st.lists(LINES, max_size=40).map(lambda lines: "\n".join(lines).encode("utf-8", "replace")),
    st.lists(LINES, max_size=20).map(lambda lines: "\r\n".join(lines).encode("latin-1", "replace")),
    st.binary(max_size=300),
)


@given(raw=MESSAGES)
def test_any_message_is_read_or_refused(raw: bytes) -> None:
    try:
        letter = read_letter(b"Subject: x\n" + raw, now=NOW)
    except LetterUnreadable as error:
        letter = raw_letter(raw, str(error), now=NOW)

    assert letter.identity
    assert letter.html
    assert letter.published_at is None or letter.published_at <= NOW
    clean(letter.html, base_url="")
    for text in (letter.subject, letter.sender.name, letter.sender.key, letter.html, letter.identity, letter.url):
        text.encode()
        assert "\0" not in text


@given(raw=MESSAGES)
def test_a_refused_message_is_kept(raw: bytes) -> None:
    kept = raw_letter(raw, "Damaged.", now=NOW)

    assert "Damaged." in kept.html
    kept.html.encode()


@given(raw=MESSAGES, end=st.integers(0, 400))
def test_a_message_may_be_cut_off_anywhere(raw: bytes, end: int) -> None:
    with suppress(LetterUnreadable):
        assert read_letter((b"From: a@b.example\n" + raw)[:end], now=NOW).html
