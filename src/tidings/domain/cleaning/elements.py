"""The tables: what is kept of HTML, and with which attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser

from tidings.domain.cleaning import attributes as check
from tidings.domain.cleaning.attributes import Check
from tidings.domain.cleaning.words import words

EVERYWHERE: Mapping[str, Check] = {"dir": check.direction, "lang": check.language}

HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
VOID: Final = frozenset({"br", "col", "hr", "img", "source", "wbr"})


class Element(Struct, frozen=True, eq=False):
    """checks: for each attribute that may stay, what makes a value of it acceptable.

    bare, close: the tags when no attribute is written; close is "" for an element without content.
    has_own: whether an attribute besides those of `EVERYWHERE` can stay.
    ends_word: whether it stands between two words, not within one.
    is_block: whether a line ends before and after it.
    can_split: whether it has to look around where it stands, see `SPLITS`.
    """

    name: str
    checks: Mapping[str, Check]
    bare: str
    close: str
    has_own: bool
    ends_word: bool
    is_block: bool
    can_split: bool


# Left out with everything in it. Browsers do not show a template either.
DROPPED: Final = words("""
    script style template meta link base basefont title datalist frameset frame noframes noembed embed param
    input track area
""")

# Of a drawing, or of what is nested too deep, only the text is kept; this is no part of it.
DROPPED_IN_DRAWINGS: Final = words("noscript desc metadata defs symbol iframe")

# Left out, content kept; but the parser took the content for a world of its own, where a paragraph may stand
# in a paragraph. Whoever takes down these walls has to look a second time.
WALLS: Final = frozenset({"applet", "button", "marquee", "object", "select"})

# Left out, content kept, and a line ended where they began and where they ended.
LINES: Final = words("""
    address article center dir div fieldset footer form header hgroup listing main menu nav plaintext search
    section xmp
""")

# An element the parser would not leave directly inside of one of these: it would close the outer one first.
SPLITS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(HEADINGS, HEADINGS),
    "rp": frozenset({"p", "li", "dd", "dt", "rt", "rp"}),
    "rt": frozenset({"p", "li", "dd", "dt", "rt", "rp"}),
    "rtc": frozenset({"p", "li", "dd", "dt", "rt", "rp", "rtc"}),
}
# The same, and the parser looks further up, as far as the first element that is a place of its own.
SPLITS_FROM_AFAR: Final[Mapping[str, frozenset[str]]] = {
    "li": frozenset({"li"}),
    "dd": frozenset({"dd", "dt"}),
    "dt": frozenset({"dd", "dt"}),
}

# Text right inside of these would move elsewhere when parsed again.
TABLE_FRAMES: Final = frozenset({"colgroup", "table", "tbody", "tfoot", "thead", "tr"})

_BLOCKS = HEADINGS | words("""
    aside blockquote br caption col colgroup dd details dl dt figcaption figure hr li ol p pre summary table
    tbody td tfoot th thead tr ul
""")
PLACES: Final = _BLOCKS - {"p"}

# Elements whose tags do not end a word: "<b>T</b>idings" is one.
WITHIN_WORDS: Final = words("""
    a abbr acronym b bdi bdo cite code del dfn em i ins kbd mark q s samp small span strong sub sup time u var wbr
""")

_ID = {"id": check.text}
_CELL = {"rowspan": check.span, "colspan": check.span}
_COLUMNS = {"span": check.span}
_EDIT = {"cite": check.link, "datetime": check.text}
_QUOTE = {"cite": check.link}
_CODE = {"class": check.code_language}

_OWN: Mapping[str, Mapping[str, Check]] = {
    "a": {"title": check.text, "id": check.text},
    "abbr": {"title": check.text},
    "acronym": {"title": check.text},
    "blockquote": _QUOTE,
    "code": _CODE,
    "col": _COLUMNS,
    "colgroup": _COLUMNS,
    "dd": _ID,
    "del": _EDIT,
    "details": {"open": check.always},
    "dfn": {"title": check.text},
    "dl": _ID,
    "dt": _ID,
    **dict.fromkeys(HEADINGS, _ID),
    "ins": _EDIT,
    "li": {"id": check.text, "value": check.integer},
    "ol": {"id": check.text, "start": check.integer, "reversed": check.always, "type": check.list_type},
    "pre": _CODE,
    "q": _QUOTE,
    "sup": _ID,
    "td": _CELL,
    "th": {**_CELL, "scope": check.one_of("row", "col", "rowgroup", "colgroup")},
    "time": {"datetime": check.text},
    "ul": _ID,
}

_PLAIN = _BLOCKS | words("""
    abbr acronym b bdi bdo cite code del dfn em i ins kbd mark picture q rp rt rtc ruby s samp small strong
    sub sup time u var wbr
""")


def _element(name: str) -> Element:
    own = _OWN.get(name, {})
    return Element(
        name=name,
        checks={**own, **EVERYWHERE},
        bare=f"<{name}>",
        close="" if name in VOID else f"</{name}>",
        has_own=bool(own),
        ends_word=name not in WITHIN_WORDS,
        is_block=name in _BLOCKS,
        can_split=name in SPLITS or name in SPLITS_FROM_AFAR,
    )


def numbers(names: Iterable[str]) -> dict[int, str]:
    """The parser's number for each name; comparing numbers is quicker than asking for names."""
    document = LexborHTMLParser("")
    return {document.create_node(name).tag_id: name for name in names}


LINK: Final = _element("a")
PLAIN: Final[Mapping[int, Element]] = {number: _element(name) for number, name in numbers(_PLAIN).items()}
ENDS_WITHIN_WORDS: Final = frozenset(f"</{name}>" for name in WITHIN_WORDS)
BLOCK_ENDS: Final = frozenset(f"</{name}>" for name in _BLOCKS | {"div"})
