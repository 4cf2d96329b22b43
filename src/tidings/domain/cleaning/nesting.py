"""Protection against markup that costs more to parse than its length tells.

The HTML standard makes parsers look through all open elements at many tags, and open `<b>` and its kin again in
each new paragraph. A hundred thousand unclosed elements take minutes, a few kilobytes of unclosed `<b a=1>`
become millions of elements. So long documents are first read as a mere sequence of tags, estimating from above
what a parser would have open; those that go too far are rewritten so that every element is closed and none lies
too deep.

    few tags, or nothing that multiplies ─► parser
    many tags ─► estimate ─► moderate ────► parser
                         └─► excessive ─► untangle ─► parser
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Final

from tidings.domain.cleaning.elements import VOID
from tidings.domain.cleaning.words import words

# A hundred times what a long article has, which is 40,000 characters and 1,000 tags.
LONGEST: Final = 4_000_000
MOST_TAGS: Final = 100_000

# With fewer tags than this, the worst there is to parse takes a fraction of a second.
MANY_TAGS: Final = 1_500
# And with fewer than this, 10 MB. In between it takes elements that multiply: each may be opened again at every tag.
SOME_TAGS: Final = 400
MOST_REOPENED: Final = 40_000
MAX_OPEN: Final = 250

# In shorter texts (characters) no tag can have so many attributes that it matters.
LONG: Final = 50_000
MAX_ATTRIBUTES: Final = 100

_START: Final = re.compile("<[a-zA-Z]")

# What follows these tags is not markup, up to the end tag of the same name.
_RAW = words("iframe noembed noframes script style textarea title xmp")

_BLANKS = r"[\t\n\f\r\ /]"
_ATTRIBUTE = r"""[^\t\n\f\r\ />][^\t\n\f\r\ />=]*+
    (?:[\t\n\f\r\ ]*+=[\t\n\f\r\ ]*+(?:"[^"]*+"|'[^']*+'|(?!["'])[^\t\n\f\r\ >]*+))?+"""
_ATTRIBUTES = rf"(?:{_BLANKS}++|{_ATTRIBUTE})*+(?:>|\Z)"

# Source: HTML Standard, section 13.2.5 (tokenization). Only the end of the text keeps a tag from being complete;
# then nothing is left of it. Groups: the name of a tag, with the slash of an end tag, and an attribute too many.
_TAG = rf"""(/?[a-zA-Z][^\t\n\f\r\ />]*+)
    (?:{_BLANKS}*+{_ATTRIBUTE}){{0,{MAX_ATTRIBUTES}}}+((?:{_BLANKS}*+{_ATTRIBUTE})?+){_ATTRIBUTES}
    |/?[a-zA-Z].*+"""
_NO_TAG = r"!--(?:-?>|.*?(?:--!?>|\Z))|[!?/][^>]*+>?"
_TOKEN = re.compile(f"<(?:{_TAG}|{_NO_TAG})", re.DOTALL | re.VERBOSE)

# The same with raw elements and their content as one token, which takes longer. Two groups more, at the start: the
# name of the raw element and its content.
_RAW_START = re.compile(f"<(?:{'|'.join(sorted(_RAW))})", re.IGNORECASE)
_RAW_ELEMENT = rf"""({"|".join(sorted(_RAW))})(?=[\t\n\f\r\ />]){_ATTRIBUTES}
    (.*?)(?:</\1(?=[\t\n\f\r\ />])[^>]*+>?|\Z)"""
_TOKEN_OR_RAW = re.compile(f"<(?:{_RAW_ELEMENT}|{_TAG}|{_NO_TAG})", re.DOTALL | re.VERBOSE | re.IGNORECASE)

_VOID = VOID | words("area base basefont bgsound embed frame image input keygen link meta param track")
_FOREIGN = words("svg math")
_FOREIGN_START = re.compile("<(?:svg|math)", re.IGNORECASE)
_LEFT_OUT = _FOREIGN | words("plaintext template")
_FORMATTING = words("a b big code em font i nobr s small strike strong tt u")
# With attributes. A link is none of them: the next one ends it.
_MULTIPLYING = re.compile(rf"<(?:{'|'.join(sorted(_FORMATTING - {'a'}))})[\s/]", re.IGNORECASE)
_FORMATTING_ENDS = frozenset(f"/{name}" for name in _FORMATTING)
_CELL_ENDS = words("/caption /colgroup /tbody /td /tfoot /th /thead /tr")
_TABLE_ENDS = _CELL_ENDS | words("/table")
_BLOCK_ENDS = words("""
    /address /article /aside /blockquote /center /details /div /dl /fieldset /figure /footer /header /main /menu
    /nav /ol /pre /section /table /ul
""")

# Start tags that close an element which nobody bothered to close: which, and under what they find it.
_REPLACED: Final[dict[str, tuple[frozenset[str], frozenset[str]]]] = {
    "p": (words("/p"), frozenset()),
    "option": (words("/option"), frozenset()),
    "li": (words("/li"), words("/p")),
    "dd": (words("/dd /dt"), words("/p")),
    "dt": (words("/dd /dt"), words("/p")),
    "td": (words("/td /th"), words("/p")),
    "th": (words("/td /th"), words("/p")),
    "tr": (words("/tr"), words("/p /td /th")),
    "tbody": (words("/tbody /thead /tfoot"), words("/p /td /th /tr")),
}
# End tags that close what is open inside, provided that it is one of these.
_CLOSED_WITH_BLOCK = _CELL_ENDS | words("/p /li /dd /dt /option")
_CLOSED_WITH_CELL = _CELL_ENDS | words("/p")


def within_bounds(html: str) -> str:
    """The beginning of what is longer than anybody could read; where there are too many tags, the text of the rest."""
    html = html[:LONGEST]
    if html.count("<") <= MOST_TAGS:
        return html
    cut = next(islice(_START.finditer(html), MOST_TAGS, None), None)
    if cut is None:
        return html
    return html[: cut.start()] + _TOKEN_OR_RAW.sub("", html[cut.start() :]).replace("<", "&lt;")


def number_of_tags(encoded: bytes) -> int:
    """At most, for each may begin with one of these. Taking them out jumps from one to the next; counting does not."""
    return len(encoded) - len(encoded.replace(b"<", b""))


def tame(html: str, tags: int | None = None) -> str:
    """The same HTML if parsing it is cheap, otherwise one like it. tags: as `number_of_tags` tells, if it was asked."""
    tags = html.count("<") if tags is None else tags
    if tags > MANY_TAGS or len(html) > LONG or (tags > SOME_TAGS and tags * _multiplying(html) > MOST_REOPENED):
        return untangle(html) if is_excessive(html) else html
    return html


def _multiplying(html: str) -> int:
    """How many elements may be open that are opened again. Of those without attributes, three of each name are."""
    return len(_MULTIPLYING.findall(html))


def is_excessive(html: str) -> bool:
    """Whether a parser might get lost. Errs on the side of yes."""
    if "<![CDATA[" in html:
        return True  # markup or text, depending on what is open: not for an estimate to tell
    if _RAW_START.search(html) is None:
        return _is_too_much(_TOKEN.findall(html), len(html))
    tokens = _TOKEN_OR_RAW.findall(html)
    # Inside of drawings these are ordinary elements; and scripts have comments of their own.
    if any("<!--" in content for _, content, _, _ in tokens) or _FOREIGN_START.search(html):
        return True
    return _is_too_much([(name, attribute) for _, _, name, attribute in tokens], len(html))


def _is_too_much(tags: list[tuple[str, str]], length: int) -> bool:
    """tags: name and, if there is one, an attribute too many."""
    opened = ["?"]
    formatting = reopened = 0
    for name, attribute in tags:
        # Nearly every end tag is that of the last element; the list holds them as they will be met.
        if name == opened[-1]:
            opened.pop()
            formatting -= name in _FORMATTING_ENDS
        elif name.startswith("/"):
            formatting -= _close(opened, name.lower())
        elif name:
            formatting += _open(opened, name.lower())
            reopened += formatting
            if len(opened) > MAX_OPEN or reopened > length or attribute:
                return True
    return False


def _open(opened: list[str], name: str) -> bool:
    """Note what a start tag opens, and what it closes before. Tells whether it is a formatting element."""
    if name in _REPLACED:
        _cut(opened, *_REPLACED[name])
    if name not in _VOID:
        opened.append(f"/{name}")
    return name in _FORMATTING


def _close(opened: list[str], end: str) -> bool:
    """Take away what an end tag surely closes. Tells whether that was a formatting element."""
    if opened[-1] == end:
        opened.pop()
        return end in _FORMATTING_ENDS
    if end in _BLOCK_ENDS:
        _cut(opened, {end}, _CLOSED_WITH_BLOCK)
    elif end in _CELL_ENDS:
        _cut(opened, {end}, _CLOSED_WITH_CELL)
    return False


def _cut(opened: list[str], names: AbstractSet[str], through: AbstractSet[str]) -> None:
    """Shorten the list before the last of `names`, if nothing but `through` follows it."""
    for index in range(len(opened) - 1, -1, -1):
        if opened[index] in names:
            del opened[index:]
            return
        if opened[index] not in through:
            return


def untangle(html: str) -> str:
    """HTML with the same text in which elements are closed in the order in which they were opened.

    Tags deeper than `MAX_OPEN`, drawings, scripts and the like are left out; the text of formulas stays.
    """
    out: list[str] = []
    opened = ["?"]
    position = 0
    for token in _TOKEN_OR_RAW.finditer(html):
        # Loose angle brackets must not meet what a tag left out had kept apart.
        out.append(html[position : token.start()].replace("<", "&lt;"))
        position = token.end()
        name, has_too_many = (token[3] or "").lower(), token[4]
        if name.startswith("/"):
            _write_end(out, opened, name)
        elif name and name not in _LEFT_OUT:
            _write_start(out, opened, name, f"<{name}>" if has_too_many else token[0])
    out.append(html[position:].replace("<", "&lt;"))
    return "".join(out)


def _write_start(out: list[str], opened: list[str], name: str, tag: str) -> None:
    before = opened.copy()
    _open(opened, name)
    kept = len(opened) - (name not in _VOID)
    out.extend(f"<{end}>" for end in reversed(before[kept:]))
    if len(opened) <= MAX_OPEN:
        out.append(tag)
    elif name not in _VOID:
        opened.pop()


def _write_end(out: list[str], opened: list[str], end: str) -> None:
    for index in range(len(opened) - 1, 0, -1):
        if opened[index] == end:
            out.extend(f"<{open_end}>" for open_end in reversed(opened[index:]))
            del opened[index:]
            return
        if opened[index] in _TABLE_ENDS and end not in _TABLE_ENDS:
            return
