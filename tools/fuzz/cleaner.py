"""Any HTML becomes harmless, and stays as it is when it is cleaned again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from content.cleaning.trees import PAGE, dangers, tree
from fuzz.limits import MAX_INPUT_BYTES, in_time
from scoring import hostile
from tidings.content.cleaning import CleanedHtml, CleaningPolicy, clean_with_text, text_of
from tidings.content.cleaning.text import normalize_words

FINDINGS: Final = Path(__file__).parents[2] / "tests" / "corpus" / "findings"
POLICIES: Final = (
    (PAGE, CleaningPolicy()),
    ("", CleaningPolicy()),
    (PAGE, CleaningPolicy(new_tab=False, referring_hosts=frozenset({"blog.example"}))),
)

WORDS: Final = tuple(
    b"""<a <p> <div> <span <img <picture> <source <video <audio <iframe <table> <tr> <td> <caption> <ul> <li> <dl> <dd>
    <ruby> <rt> <details> <summary> <blockquote> <pre> <code <svg> <math> <mtext> <mglyph> <annotation-xml
    <foreignObject> <desc> <title> <style> <script> <noscript> <template> <textarea> <select> <option> <form> <base
    <object> <embed <link <meta <plaintext> <xmp> <noembed> <noframes> <frameset> <body> <html> <font> <b> <i> <nobr>
    </p> </a> </div> </table> </svg> </math> </style> </title> </noscript> </template> </b> <!-- --> --!> <![CDATA[ ]]>
    href=" src=" srcset=" style=" class=" title=" id=" dir=" data-src=" onerror= onload=alert(1) poster=" cite="
    javascript:alert(1) data:image/png;base64, data:text/html, https://www.youtube.com/embed/x &lt; &amp; &quot; &#0;
    &NewLine; &colon; encoding="text/html" hidden width=1 height=1 display:none http://[ //""".split()
)  # fmt: skip


def seeds() -> Iterator[bytes]:
    yield b"\0<p>One <b>two</b> <a href='/x'>three</a><img src=y.png onerror=alert(1)>"
    yield from (finding.read_bytes() for finding in sorted(FINDINGS.glob("cleaner-*/input")))
    if hostile.PAYLOADS.exists():
        yield from (b"\0" + payload.encode(errors="replace") for payload in hostile.payloads())
        yield from (b"\0" + body.encode(errors="replace")[: MAX_INPUT_BYTES // 4] for body in hostile.bodies())


def check(data: bytes) -> None:
    with in_time():
        clean = _clean(data)
    page = clean.html
    assert normalize_words(clean.text) == text_of(page)
    assert dangers(page) == [], page
    again = clean_with_text(page, base_url=_how(data)[0], policy=_how(data)[1]).html
    assert tree(again) == tree(page), f"{page!r} became {again!r}"
    assert text_of(again) == text_of(page)


def cleaned(data: bytes) -> str:
    return _clean(data).html


def _clean(data: bytes) -> CleanedHtml:
    base_url, policy = _how(data)
    # JSON can hold halves of characters.
    unreadable = chr(0xD800) if data[:1] > b"\x7f" else "\ufffd"
    source = data[1:].decode(errors="replace").replace("\ufffd", unreadable)
    return clean_with_text(source, base_url=base_url, policy=policy)


def _how(data: bytes) -> tuple[str, CleaningPolicy]:
    return POLICIES[(data[:1] or b"\0")[0] % len(POLICIES)]
