"""Tables of the HTML elements that are kept, and of their attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser

from tidings.base.text import name_set
from tidings.content.cleaning import attribute_checks
from tidings.content.cleaning.attribute_checks import AttributeCheck

COMMON_ATTRIBUTES: Mapping[str, AttributeCheck] = {"dir": attribute_checks.direction, "lang": attribute_checks.language}

HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
VOID: Final = frozenset({"br", "col", "hr", "img", "source", "wbr"})


class AllowedElement(Struct, frozen=True, eq=False):
    """An element that may stay in cleaned HTML, with everything that is needed to write it."""

    name: str
    checks: Mapping[str, AttributeCheck]
    """The check of the value of each attribute that may be kept."""
    bare_tag: str
    """The start tag without attributes."""
    end_tag: str
    """The end tag; "" for a void element."""
    has_own_attributes: bool
    """Whether it can have attributes other than `COMMON_ATTRIBUTES`."""
    ends_word: bool
    """Whether it separates two words."""
    is_block: bool
    """Whether a line ends before and after it."""
    can_split: bool
    """Whether its parent or ancestors decide if it is written, see `SPLITS_PARENT`."""
    can_hold_marks: bool
    """Whether the elements for the marks of its style may be in it, see `style_marks`."""


# Left out with their content. Browsers do not show templates either.
DROPPED: Final = name_set("""
    script style template meta link base basefont title datalist frameset frame noframes noembed param
    input track area select
""")

# Of deeply nested content only the text is kept, without the content of these elements.
DROPPED_DEEP: Final = name_set("noscript desc embed metadata defs symbol iframe svg")

# Left out, content kept. For the parser the content is a scope of its own, in which a paragraph may be inside a
# paragraph. So if one is left out, the output is sanitized a second time.
SCOPE_ELEMENTS: Final = frozenset({"applet", "button", "marquee"})

# Left out, content kept, with a line end at the start and at the end.
LINE_ELEMENTS: Final = name_set("""
    address article center dir div fieldset footer form header hgroup listing main menu nav plaintext search
    section xmp
""")

# Element -> parents that the parser would close before opening the element.
SPLITS_PARENT: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(HEADINGS, HEADINGS),
    "rp": frozenset({"p", "li", "dd", "dt", "rt", "rp"}),
    "rt": frozenset({"p", "li", "dd", "dt", "rt", "rp"}),
    "rtc": frozenset({"p", "li", "dd", "dt", "rt", "rp", "rtc"}),
}
# The same for ancestors, up to the nearest of `SPLIT_BARRIERS`.
SPLITS_ANCESTOR: Final[Mapping[str, frozenset[str]]] = {
    "li": frozenset({"li"}),
    "dd": frozenset({"dd", "dt"}),
    "dt": frozenset({"dd", "dt"}),
}

# Text directly inside these elements would move elsewhere when parsed again.
TABLE_STRUCTURE: Final = frozenset({"colgroup", "table", "tbody", "tfoot", "thead", "tr"})

_BLOCKS = HEADINGS | name_set("""
    aside blockquote br caption col colgroup dd details dl dt figcaption figure hr li ol p pre summary table
    tbody td tfoot th thead tr ul
""")
SPLIT_BARRIERS: Final = _BLOCKS - {"p"}

# Elements whose tags do not end a word: "<b>T</b>idings" is one.
WITHIN_WORDS: Final = name_set("""
    a abbr acronym b bdi bdo big cite code del dfn em i ins kbd mark q s samp small span strong sub sup time u var wbr
""")

_ID = {"id": attribute_checks.identifier}
_CELL = {"rowspan": attribute_checks.span, "colspan": attribute_checks.span}
_COLUMNS = {"span": attribute_checks.span}
_EDIT = {"cite": attribute_checks.link, "datetime": attribute_checks.text}
_QUOTE = {"cite": attribute_checks.link}
_CODE = {"class": attribute_checks.code_language}
CODE_ATTRIBUTES: Final[Mapping[str, AttributeCheck]] = _CODE

_OWN: Mapping[str, Mapping[str, AttributeCheck]] = {
    "a": {"title": attribute_checks.text, "id": attribute_checks.identifier},
    "abbr": {"title": attribute_checks.text},
    "acronym": {"title": attribute_checks.text},
    "blockquote": _QUOTE,
    "code": _CODE,
    "col": _COLUMNS,
    "colgroup": _COLUMNS,
    "dd": _ID,
    "del": _EDIT,
    "details": {"open": attribute_checks.always},
    "dfn": {"title": attribute_checks.text},
    "dl": _ID,
    "dt": _ID,
    **dict.fromkeys(HEADINGS, _ID),
    "ins": _EDIT,
    "li": {"id": attribute_checks.identifier, "value": attribute_checks.integer},
    "ol": {
        "id": attribute_checks.identifier,
        "start": attribute_checks.integer,
        "reversed": attribute_checks.always,
        "type": attribute_checks.list_type,
    },
    "pre": _CODE,
    "q": _QUOTE,
    "sup": _ID,
    "td": _CELL,
    "th": {**_CELL, "scope": attribute_checks.one_of("row", "col", "rowgroup", "colgroup")},
    "time": {"datetime": attribute_checks.text},
    "ul": _ID,
}

_PLAIN = _BLOCKS | name_set("""
    abbr acronym b bdi bdo big cite code del dfn em i ins kbd mark picture q rp rt rtc ruby s samp small strong
    sub sup time u var wbr
""")

# Elements that are written under another name: today's for the same meaning.
_RENAMED: Final[Mapping[str, str]] = {"strike": "s", "tt": "code"}

_WITHOUT_MARKS = VOID | TABLE_STRUCTURE | name_set("col details dl ol picture rp rt rtc ruby ul")


def _allowed_element(name: str) -> AllowedElement:
    own = _OWN.get(name, {})
    return AllowedElement(
        name=name,
        checks={**own, **COMMON_ATTRIBUTES},
        bare_tag=f"<{name}>",
        end_tag="" if name in VOID else f"</{name}>",
        has_own_attributes=bool(own),
        ends_word=name not in WITHIN_WORDS,
        is_block=name in _BLOCKS,
        can_split=name == "pre" or name in SPLITS_PARENT or name in SPLITS_ANCESTOR,
        can_hold_marks=name not in _WITHOUT_MARKS,
    )


def tag_ids(names: Iterable[str]) -> dict[int, str]:
    """Return the parser's number for each name; comparing numbers is faster than comparing names."""
    document = LexborHTMLParser("")
    return {document.create_node(name).tag_id: name for name in names}


LINK: Final = _allowed_element("a")
PRE: Final = _allowed_element("pre")
PICTURE: Final = _allowed_element("picture")
PLAIN: Final[Mapping[int, AllowedElement]] = {
    number: _allowed_element(_RENAMED.get(name, name)) for number, name in tag_ids(_PLAIN | _RENAMED.keys()).items()
}
ENDS_WITHIN_WORDS: Final = frozenset(f"</{name}>" for name in WITHIN_WORDS)
BLOCK_ENDS: Final = frozenset(f"</{name}>" for name in _BLOCKS | {"div"})
