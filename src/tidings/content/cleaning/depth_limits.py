"""Protection against markup that takes far longer to parse than its length suggests.

The HTML standard makes parsers search all open elements at many tags, and reopen `<b>` and other formatting in
each new paragraph. A hundred thousand unclosed elements take minutes; a few kilobytes of unclosed `<b a=1>`
become millions of elements. So long documents are first read as a sequence of tags, to estimate an upper bound of
what a parser would have open. Documents beyond the limits are rewritten so that each element is closed and none is
nested too deeply.

    few tags, or none that are reopened ─► parser
    many tags ─► estimate ─► within limits ──► parser
                         └─► beyond limits ─► close_elements ─► parser
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Final

from tidings.base.text import name_set
from tidings.content.cleaning.elements import VOID

# A hundred times a long article, which has 40,000 characters and 1,000 tags.
MAX_CHARS: Final = 4_000_000
MAX_TAGS: Final = 100_000

# Documents with more tags are always checked. With fewer, the worst case takes a fraction of a second to parse.
ALWAYS_CHECKED_TAGS: Final = 1_500
# With fewer tags than this, a document is never checked: the worst case takes 10 MB. In between, only documents with
# many formatting elements are checked, each of which may be reopened at every tag.
NEVER_CHECKED_TAGS: Final = 400
MAX_REOPENED: Final = 40_000
MAX_OPEN: Final = 250

# Characters. In shorter texts no tag has enough attributes to matter.
ALWAYS_CHECKED_CHARS: Final = 50_000
MAX_ATTRIBUTES: Final = 100

_START: Final = re.compile("<[a-zA-Z]")

# The content of these elements is not markup, up to the end tag of the same name.
_RAW = name_set("iframe noembed noframes script style textarea title xmp")

_WHITESPACE = r"[\t\n\f\r\ /]"
_ATTRIBUTE = r"""[^\t\n\f\r\ />][^\t\n\f\r\ />=]*+
    (?:[\t\n\f\r\ ]*+=[\t\n\f\r\ ]*+(?:"[^"]*+"|'[^']*+'|(?!["'])[^\t\n\f\r\ >]*+))?+"""
_ATTRIBUTES = rf"(?:{_WHITESPACE}++|{_ATTRIBUTE})*+(?:>|\Z)"

# Source: HTML Standard, section 13.2.5 (tokenization). A tag is incomplete only at the end of the text, and is then
# dropped. Groups: the name of a tag, with the slash of an end tag, and an attribute beyond the limit.
_TAG = rf"""(/?[a-zA-Z][^\t\n\f\r\ />]*+)
    (?:{_WHITESPACE}*+{_ATTRIBUTE}){{0,{MAX_ATTRIBUTES}}}+((?:{_WHITESPACE}*+{_ATTRIBUTE})?+){_ATTRIBUTES}
    |/?[a-zA-Z].*+"""
_NO_TAG = r"!--(?:-?>|.*?(?:--!?>|\Z))|[!?/][^>]*+>?"
_TOKEN = re.compile(f"<(?:{_TAG}|{_NO_TAG})", re.DOTALL | re.VERBOSE)

# The same with a raw element and its content as one token, which is slower. Two more groups at the start: the name of
# the raw element and its content.
_RAW_START = re.compile(f"<(?:{'|'.join(sorted(_RAW))})", re.IGNORECASE)
_RAW_ELEMENT = rf"""({"|".join(sorted(_RAW))})(?=[\t\n\f\r\ />]){_ATTRIBUTES}
    (.*?)(?:</\1(?=[\t\n\f\r\ />])[^>]*+>?|\Z)"""
_TOKEN_OR_RAW = re.compile(f"<(?:{_RAW_ELEMENT}|{_TAG}|{_NO_TAG})", re.DOTALL | re.VERBOSE | re.IGNORECASE)

_VOID = VOID | name_set("area base basefont bgsound embed frame image input keygen link meta param track")
_FOREIGN = name_set("svg math")
_FOREIGN_START = re.compile("<(?:svg|math)", re.IGNORECASE)
_OMITTED = _FOREIGN | name_set("plaintext template")
_FORMATTING = name_set("a b big code em font i nobr s small strike strong tt u")
# Formatting elements with attributes, which are reopened. Not links: the next link closes the previous one.
_REOPENED_FORMATTING = re.compile(rf"<(?:{'|'.join(sorted(_FORMATTING - {'a'}))})[\s/]", re.IGNORECASE)
_FORMATTING_ENDS = frozenset(f"/{name}" for name in _FORMATTING)
_CELL_ENDS = name_set("/caption /colgroup /tbody /td /tfoot /th /thead /tr")
_TABLE_ENDS = _CELL_ENDS | name_set("/table")
_BLOCK_ENDS = name_set("""
    /address /article /aside /blockquote /center /details /div /dl /fieldset /figure /footer /header /main /menu
    /nav /ol /pre /section /table /ul
""")

# Start tags that close an open element: the elements they close, and the elements that may be open inside those.
_IMPLIED_END_TAGS: Final[dict[str, tuple[frozenset[str], frozenset[str]]]] = {
    "p": (name_set("/p"), frozenset()),
    "option": (name_set("/option"), frozenset()),
    "li": (name_set("/li"), name_set("/p")),
    "dd": (name_set("/dd /dt"), name_set("/p")),
    "dt": (name_set("/dd /dt"), name_set("/p")),
    "td": (name_set("/td /th"), name_set("/p")),
    "th": (name_set("/td /th"), name_set("/p")),
    "tr": (name_set("/tr"), name_set("/p /td /th")),
    "tbody": (name_set("/tbody /thead /tfoot"), name_set("/p /td /th /tr")),
}
# Elements inside which are closed with the outer one by its end tag.
_CLOSED_WITH_BLOCK = _CELL_ENDS | name_set("/p /li /dd /dt /option")
_CLOSED_WITH_CELL = _CELL_ENDS | name_set("/p")


def truncate(html: str) -> str:
    """Return the HTML cut to `MAX_CHARS`; from the first tag beyond `MAX_TAGS` on, only its text."""
    html = html[:MAX_CHARS]
    if html.count("<") <= MAX_TAGS:
        return html
    cut = next(islice(_START.finditer(html), MAX_TAGS, None), None)
    if cut is None:
        return html
    return html[: cut.start()] + _TOKEN_OR_RAW.sub("", html[cut.start() :]).replace("<", "&lt;")


def count_tags(encoded: bytes) -> int:
    """Return an upper bound of the number of tags: the number of `<`. Removing them is faster than counting them."""
    return len(encoded) - len(encoded.replace(b"<", b""))


def limit_nesting(html: str, tags: int | None = None) -> str:
    """Return the HTML if it is cheap to parse, otherwise equivalent HTML that is. tags: `count_tags`, if known."""
    tags = html.count("<") if tags is None else tags
    if (
        tags > ALWAYS_CHECKED_TAGS
        or len(html) > ALWAYS_CHECKED_CHARS
        or (tags > NEVER_CHECKED_TAGS and tags * _count_reopened(html) > MAX_REOPENED)
    ):
        return close_elements(html) if is_too_costly(html) else html
    return html


def _count_reopened(html: str) -> int:
    """Return how many elements may be reopened. Without attributes that is limited to three per name."""
    return len(_REOPENED_FORMATTING.findall(html))


def is_too_costly(html: str) -> bool:
    """Return whether a parser may take too long. When in doubt, True."""
    if "<![CDATA[" in html:
        return True  # markup or text, depending on the open elements, which an estimate cannot tell
    if _RAW_START.search(html) is None:
        return _exceeds_limits(_TOKEN.findall(html), len(html))
    tokens = _TOKEN_OR_RAW.findall(html)
    # Inside SVG these are ordinary elements, and scripts have comments of their own.
    if any("<!--" in content for _, content, _, _ in tokens) or _FOREIGN_START.search(html):
        return True
    return _exceeds_limits([(name, attribute) for _, _, name, attribute in tokens], len(html))


def _exceeds_limits(tags: list[tuple[str, str]], length: int) -> bool:
    """Return whether the tags exceed a limit. tags: name and, if there is one, an attribute beyond the limit."""
    opened = ["?"]
    formatting = reopened = 0
    for name, attribute in tags:
        # Nearly every end tag closes the last element; the list holds the expected end tags.
        if name == opened[-1]:
            opened.pop()
            formatting -= name in _FORMATTING_ENDS
        elif name.startswith("/"):
            formatting -= _apply_end_tag(opened, name.lower())
        elif name:
            formatting += _apply_start_tag(opened, name.lower())
            reopened += formatting
            if len(opened) > MAX_OPEN or reopened > length or attribute:
                return True
    return False


def _apply_start_tag(opened: list[str], name: str) -> bool:
    """Records what a start tag closes and opens. Returns whether it is a formatting element."""
    if name in _IMPLIED_END_TAGS:
        _close_through(opened, *_IMPLIED_END_TAGS[name])
    if name not in _VOID:
        opened.append(f"/{name}")
    return name in _FORMATTING


def _apply_end_tag(opened: list[str], end: str) -> bool:
    """Records what an end tag closes for certain. Returns whether that was a formatting element."""
    if opened[-1] == end:
        opened.pop()
        return end in _FORMATTING_ENDS
    if end in _BLOCK_ENDS:
        _close_through(opened, {end}, _CLOSED_WITH_BLOCK)
    elif end in _CELL_ENDS:
        _close_through(opened, {end}, _CLOSED_WITH_CELL)
    return False


def _close_through(opened: list[str], names: AbstractSet[str], through: AbstractSet[str]) -> None:
    """Removes the last of `names` and everything after it, if only elements in `through` follow it."""
    for index in range(len(opened) - 1, -1, -1):
        if opened[index] in names:
            del opened[index:]
            return
        if opened[index] not in through:
            return


def close_elements(html: str) -> str:
    """Return HTML with the same text in which elements are closed in the reverse order of their start tags.

    Tags deeper than `MAX_OPEN`, scripts and similar elements are left out, and drawings except for their titles; the
    text of formulas stays.
    """
    out: list[str] = []
    opened = ["?"]
    position = 0
    last_drawing_end = html.lower().rfind("</svg")
    in_drawing = False
    for token in _TOKEN_OR_RAW.finditer(html):
        if in_drawing:
            position = token.end()
            in_drawing = (token[3] or "").lower() != "/svg"
            if (token[1] or "").lower() == "title":
                out.append(token[2].replace("<", "&lt;"))
            continue
        # Escaped, because leaving out a tag can join stray brackets with the following text.
        out.append(html[position : token.start()].replace("<", "&lt;"))
        position = token.end()
        name, has_too_many = (token[3] or "").lower(), token[4]
        if name == "svg" and token.start() < last_drawing_end:
            in_drawing = True
        elif name.startswith("/"):
            _write_end(out, opened, name)
        elif name and name not in _OMITTED:
            _write_start(out, opened, name, f"<{name}>" if has_too_many else token[0])
    out.append(html[position:].replace("<", "&lt;"))
    return "".join(out)


def _write_start(out: list[str], opened: list[str], name: str, tag: str) -> None:
    before = opened.copy()
    _apply_start_tag(opened, name)
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
