"""A hundred whole letters of twenty kinds, as newsletters and mail servers make them, and what must become of each."""

from __future__ import annotations

import base64
import quopri
from collections.abc import Callable, Iterator
from email.header import Header
from typing import Final

from msgspec import Struct

# Of each kind. Large ones are slow, so that there are fewer of them, and more of the most frequent damage.
NUMBER: Final = 5
LARGE_NUMBER: Final = 2
CUT_OFF_NUMBER: Final = 8
LARGE_BYTES: Final = 7_400_000

_PAGE: Final = (
    "<!DOCTYPE html><html><head><style>.x{{color:red}}</style><title>t</title></head><body>{before}"
    "<p>High water at <b>noon</b>, low water at dusk.</p>{after}"
    '<p><a href="https://tides.example/{number}">View in browser</a> '
    '<a href="https://tides.example/leave?u={number}">Unsubscribe</a></p></body></html>'
)
_LATIN: Final = (
    ("windows-1251", "Полная вода"), ("koi8-r", "Прилив и отлив"), ("shift_jis", "満潮の時刻"), ("big5", "漲潮時間"),
    ("iso-8859-2", "Příliv a odliv"),
)  # fmt: skip
_HIDING: Final = (
    "display:none", "mso-hide:all;display:none;max-height:0", "max-height:0;overflow:hidden", "font-size:0;opacity:0",
    "visibility:hidden;display:none!important",
)  # fmt: skip


class LetterCase(Struct, frozen=True, kw_only=True):
    """A letter, and what its entry must have."""

    raw: bytes
    title: str
    has: str = "High water"
    lacks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    is_for_two: bool = False
    """Delivered to two addresses of the user, as with To and Cc."""
    is_dated_now: bool = False
    """Its date is missing, or in the future."""


def all_letters() -> list[LetterCase]:
    return [one for kind in KINDS for one in kind()]


def message(
    title: str,
    body: bytes | str,
    *more: str,
    type_: str = "text/html; charset=utf-8",
    encoding: str = "8bit",
    leaves_out: tuple[str, ...] = (),
) -> bytes:
    """Return a letter from its body. leaves_out: headers that it does not have."""
    headers = {
        "Received": "from out.tides.example by mx.reader.example; Fri, 20 Nov 2026 07:30:02 +0000",
        "From": "Tides <post@tides.example>",
        "To": "letters@reader.example",
        "Subject": title,
        "Message-ID": f"<{title.replace(' ', '.')}@tides.example>".encode("ascii", "replace").decode(),
        "Date": "Fri, 20 Nov 2026 07:30:00 +0000",
        "MIME-Version": "1.0",
        "Content-Type": type_,
        "Content-Transfer-Encoding": encoding,
    } | dict(header.split(": ", 1) for header in more)
    lines = [f"{name}: {value}" for name, value in headers.items() if name not in leaves_out]
    content = body if isinstance(body, bytes) else body.encode()
    return "\r\n".join([*lines, "", ""]).encode() + content


def page(number: int, before: str = "", after: str = "") -> str:
    return _PAGE.format(number=number, before=before, after=after)


def parts(*contents: bytes | str, boundary: str = "b1", closes: bool = True) -> bytes:
    """Return a multipart body. contents: each with its headers."""
    raw = [one if isinstance(one, bytes) else one.encode() for one in contents]
    begin = f"--{boundary}\r\n".encode()
    return b"".join(begin + one + b"\r\n" for one in raw) + (f"--{boundary}--\r\n".encode() if closes else b"")


def without_to() -> Iterator[LetterCase]:
    for number in range(NUMBER):
        title = f"Without To {number}"
        yield LetterCase(title=title, raw=message(title, page(number), "Bcc: x@y.example", leaves_out=("To",)))


def other_charsets() -> Iterator[LetterCase]:
    for label, text in _LATIN:
        title = f"Charset {label}"
        body = f"<p>{text}: High water.</p>".encode(label)
        yield LetterCase(title=title, raw=message(title, body, type_=f"text/html; charset={label}"), has=text)


def unlabelled_bytes() -> Iterator[LetterCase]:
    for number in range(NUMBER):
        title = f"Bytes {number}"
        body = b"High water \xe9\xff\x80 at noon" + bytes([0xC0 + number, 0x0B])
        yield LetterCase(title=title, raw=message(title, body, type_="text/plain" if number % 2 else "text/plain; x"))


def without_text() -> Iterator[LetterCase]:
    for number in range(NUMBER):
        title = f"Only a file {number}"
        file = base64.encodebytes(b"%PDF-1.7 " * 200).decode()
        part = (
            f'Content-Type: application/pdf\r\nContent-Disposition: attachment; filename="tide-{number}.pdf"\r\n'
            f"Content-Transfer-Encoding: base64\r\n\r\n{file}"
        )
        raw = message(title, parts(part), type_="multipart/mixed; boundary=b1", encoding="7bit")
        yield LetterCase(title=title, raw=raw, has=f"tide-{number}.pdf")


def to_and_cc() -> Iterator[LetterCase]:
    for number in range(NUMBER):
        title = f"To and Cc {number}"
        yield LetterCase(title=title, raw=message(title, page(number), "Cc: again@reader.example"), is_for_two=True)


def cut_off() -> Iterator[LetterCase]:
    for number in range(CUT_OFF_NUMBER):
        title = f"Cut off {number}"
        body = quopri.encodestring(page(number, after="<p>é…</p>" * 20).encode())
        part = b"Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" + body
        cut = parts(part, closes=False)[: -30 - number]
        yield LetterCase(title=title, raw=message(title, cut, type_="multipart/alternative; boundary=b1"))


def preheaders() -> Iterator[LetterCase]:
    for number, style in enumerate(_HIDING):
        title = f"Preheader {number}"
        hidden = f'<div style="{style}">Secret preview &zwnj;&nbsp;&zwnj;&nbsp;</div>'
        yield LetterCase(title=title, raw=message(title, page(number, hidden)), lacks=("Secret preview",))


def layout_tables() -> Iterator[LetterCase]:
    for number in range(NUMBER):
        title = f"Layout {number}"
        begin = '<table width="600" role="presentation" cellpadding="0"><tr><td bgcolor="#fff">' * (3 + 10 * number)
        raw = message(title, page(number, begin, "</td></tr></table>" * (3 + 10 * number)))
        yield LetterCase(title=title, raw=raw, lacks=("<table", "bgcolor", "cellpadding"))


def pixels() -> Iterator[LetterCase]:
    for number, size in enumerate(
        ('width="1" height="1"', 'width="0"', 'style="width:1px;height:1px"', 'height="1"', "")
    ):
        title = f"Pixel {number}"
        pixel = (
            f'<img src="https://open.tides.example/o.gif?u={number}" {size or chr(32).join(("width=1", "height=1"))}>'
        )
        yield LetterCase(title=title, raw=message(title, page(number, after=pixel)), lacks=("open.tides.example",))


def future_dates() -> Iterator[LetterCase]:
    years = ("Fri, 20 Nov 2099 07:30:00 +0000", "Mon, 1 Jan 2035 00:00:00 -1200", "31 Dec 9999 23:59:59 +1400", "x", "")
    for number, date in enumerate(years):
        title = f"Future {number}"
        yield LetterCase(title=title, raw=message(title, page(number), f"Date: {date}"), is_dated_now=True)


def large_letters() -> Iterator[LetterCase]:
    for number in range(LARGE_NUMBER):
        title = f"Large {number}"
        file = base64.encodebytes(bytes(range(256)) * (LARGE_BYTES // 256)).replace(b"\n", b"\r\n")
        head = b'Content-Type: image/tiff; name="chart.tiff"\r\nContent-Transfer-Encoding: base64\r\n\r\n'
        text = f"Content-Type: text/html; charset=utf-8\r\n\r\n{page(number)}"
        raw = message(title, parts(text, head + file), type_="multipart/mixed; boundary=b1")
        yield LetterCase(title=title, raw=raw, lacks=("AAECAwQF",))


def nested_parts() -> Iterator[LetterCase]:
    for number in range(NUMBER):
        title = f"Nested {number}"
        depth = 15 + number
        body = f"Content-Type: text/html; charset=utf-8\r\n\r\n{page(number)}".encode()
        for level in range(depth - 1, 0, -1):
            boundary = f"level{level}"
            head = f'Content-Type: multipart/mixed; boundary="{boundary}"\r\n\r\n'.encode()
            body = head + parts(body, boundary=boundary)
        raw = message(title, parts(body, boundary="level0"), type_="multipart/mixed; boundary=level0")
        yield LetterCase(title=title, raw=raw)


def automatic_replies() -> Iterator[LetterCase]:
    marks = (
        "Auto-Submitted: auto-replied", "Auto-Submitted: auto-replied (vacation)", "X-Autoreply: yes",
        "Auto-Submitted: Auto-Replied", "Auto-Submitted: auto-replied; owner-email=x@y.example",
    )  # fmt: skip
    for number, mark in enumerate(marks):
        title = f"Reply {number}"
        text = message(title, "I am away. High water.", mark, "Precedence: bulk", type_="text/plain")
        yield LetterCase(title=title, raw=text, tags=("auto-reply",))


def flowed_texts() -> Iterator[LetterCase]:
    for number in range(NUMBER):
        title = f"Text {number}"
        body = f"High water at \r\nnoon.\r\n\r\n> quoted {number}\r\n.\r\n..\r\n-- \r\nTides\r\nFrom here on\r\n"
        raw = message(title, body, type_="text/plain; charset=utf-8; format=flowed; delsp=yes")
        yield LetterCase(title=title, raw=raw)


def inner_pictures() -> Iterator[LetterCase]:
    dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    for number in range(NUMBER):
        title = f"Picture {number}"
        head = f"Content-Type: image/png\r\nContent-ID: <dot{number}@x>\r\nContent-Transfer-Encoding: base64"
        html = page(number, f'<img src="cid:dot{number}@x" alt="Chart" width="300">')
        raw = message(
            title,
            parts(
                f"Content-Type: text/html; charset=utf-8\r\n\r\n{html}",
                f"{head}\r\n\r\n{dot}",
            ),
            type_='multipart/related; boundary=b1; type="text/html"',
        )
        yield LetterCase(title=title, raw=raw, lacks=("cid:",))


def encoded_subjects() -> Iterator[LetterCase]:
    for number, label in enumerate(("utf-8", "iso-8859-1", "utf-8", "windows-1252", "utf-8")):
        title = f"Höhe {number} " + "Flut und Ebbe an der Küste " * 4 + "heute"
        written = Header(title, label, header_name="Subject").encode(linesep="\r\n")
        raw = message(title, page(number), f"Subject: {written}", f"Message-ID: <encoded{number}@tides.example>")
        yield LetterCase(title=title, raw=raw)


def without_ids() -> Iterator[LetterCase]:
    for number in range(NUMBER):
        title = f"Without id {number}"
        raw = message(title, page(number), leaves_out=("Message-ID", "Date", "MIME-Version"))
        yield LetterCase(title=title, raw=raw, is_dated_now=True)


def forwarded() -> Iterator[LetterCase]:
    for number in range(NUMBER):
        title = f"Forwarded {number}"
        inner = message(f"Inner {number}", page(number), "Received: from a by b")
        part = b"Content-Type: message/rfc822\r\n\r\n" + inner
        text = "Content-Type: text/plain\r\n\r\nSee below."
        raw = message(title, parts(text, part), type_="multipart/mixed; boundary=b1")
        yield LetterCase(title=title, raw=raw)


def base64_pages() -> Iterator[LetterCase]:
    for number in range(NUMBER):
        title = f"Base64 {number}"
        body = base64.encodebytes(page(number).encode())[: None if number % 2 else -3]
        yield LetterCase(title=title, raw=message(title, body, encoding="base64"))


def bounces() -> Iterator[LetterCase]:
    for number in range(NUMBER):
        title = f"Bounce {number}"
        text = "Content-Type: text/plain\r\n\r\nHigh water could not be delivered."
        status = (
            "Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; x\r\n\r\nAction: failed\r\nStatus: 5.1.1"
        )
        raw = message(
            title, parts(text, status), "From: MAILER-DAEMON@tides.example",
            type_="multipart/report; report-type=delivery-status; boundary=b1",
        )  # fmt: skip
        yield LetterCase(title=title, raw=raw)


KINDS: Final[tuple[Callable[[], Iterator[LetterCase]], ...]] = (
    without_to, other_charsets, unlabelled_bytes, without_text, to_and_cc, cut_off, preheaders, layout_tables, pixels,
    future_dates, large_letters, nested_parts, automatic_replies, flowed_texts, inner_pictures, encoded_subjects,
    without_ids, forwarded, base64_pages, bounces,
)  # fmt: skip
