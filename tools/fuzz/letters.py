"""Any bytes are read as a letter or kept as they came, and what is read can be stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fuzz.limits import MAX_INPUT_BYTES, in_time
from newsletters.hundred_letters import all_letters
from tidings.base.times import Instant
from tidings.content import clean
from tidings.content.letters import Letter, LetterUnreadable, raw_letter, read_letter

NOW: Final = Instant(1_795_765_000_000_000)

WORDS: Final = tuple(
    b"""From: To: Subject: Date: Message-ID: List-Id: List-Unsubscribe: List-Unsubscribe-Post: Content-Type:
    Content-Disposition: Content-Transfer-Encoding: Content-ID: Authentication-Results: Received: Archived-At:
    Auto-Submitted: X-Spam-Flag: MIME-Version: multipart/mixed multipart/alternative multipart/related
    multipart/digest multipart/signed message/rfc822 message/partial message/delivery-status text/html text/plain
    text/enriched image/png boundary="b" boundary=b start=<x> type= charset=utf-7 charset=iso-2022-jp charset="x"
    format=flowed delsp=yes filename*0*=utf-8''%FF filename*= name= base64 quoted-printable uuencode x-uuencode 8bit
    --b --b-- begin =?utf-8?b? =?utf-8?q?=FF?= ?= <a@b> cid:x <img <table> <tr> <td <th> <caption> </table> <!-- -->
    style="display:none mso-hide:all max-height:0 width=1 hidden <div <wbr> http:// https:// mailto: <https://a/>
    confirm unsubscribe =E2=82 +0000 GMT Fri, 2026""".split()
)  # fmt: skip


def seeds() -> Iterator[bytes]:
    yield b"From: a@b.example\nSubject: Rain\n\nRain."
    yield from (one.raw for one in all_letters() if len(one.raw) <= MAX_INPUT_BYTES)


def check(data: bytes) -> None:
    with in_time():
        letter = read(data)
        shown = clean(letter.html, base_url=letter.url)
    assert letter == read(data), "the same bytes are not the same letter"
    assert letter.identity
    assert letter.html
    assert letter.published_at is None or letter.published_at <= NOW
    assert letter.url == "" or letter.url.startswith(("http://", "https://")), letter.url
    _check_text(shown, letter.subject, letter.identity, letter.html, letter.url, letter.confirmation_url)
    _check_text(letter.sender.name, letter.sender.key, *letter.attachments, *letter.problems)


def read(data: bytes) -> Letter:
    try:
        return read_letter(data, now=NOW)
    except LetterUnreadable as error:
        return raw_letter(data, str(error), now=NOW)


def _check_text(*texts: str) -> None:
    for text in texts:
        assert "\0" not in text
        text.encode()
