"""Writes clean HTML from the parsed tree.

    text ─► limit the nesting ─► parse (lexbor) ─► one handler per element ─► new text

Nothing of the tree is copied: each tag is written from the tables of `elements`. The next parser builds the same
tree from the output. Where the tree cannot be written as HTML, such as a link inside a link, the inner tag is
left out.

Some markup takes far longer to parse than its length suggests. The HTML standard makes parsers search all open
elements at many tags, and reopen `<b>` and other formatting in each new paragraph. A hundred thousand unclosed elements
take minutes; a few kilobytes of unclosed `<b a=1>` become millions of elements. So long documents are first read as a
sequence of tags, to estimate an upper bound of what a parser would have open. Documents beyond the limits are rewritten
so that each element is closed and none is nested too deeply.

    few tags, or none that are reopened ─► parser
    many tags ─► estimate ─► within limits ──► parser
                         └─► beyond limits ─► close_elements ─► parser
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import islice
from typing import Final

from msgspec import Struct
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from tidings.base.text import name_set
from tidings.content.cleaning import attribute_checks, code_samples, controls, elements, formulas, style_marks
from tidings.content.cleaning.attribute_checks import HIDING_ATTRIBUTES, Attributes, LinkCleaner, start_tag
from tidings.content.cleaning.elements import VOID
from tidings.content.cleaning.media import MEDIA_HANDLERS, handle_amp
from tidings.content.cleaning.node_text import has_line_feed, has_only_digits
from tidings.content.cleaning.writer import DEFAULT_POLICY, LINE_END, CleanHtmlWriter, CleaningPolicy, ElementHandler

# Limits of documents

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


# Cleaning

# Cleaning adds attributes to links. Output that grows more than this comes from elements that are reopened many times.
MAX_GROWTH = 20
# The same limit for relative URLs that become absolute.
MAX_URL_GROWTH = 8


class CleanedHtml(Struct, frozen=True):
    """text: the text of the HTML, without tags but with character references and all blanks; see `cleaning.text`."""

    html: str
    text: str


def clean(html: str, *, base_url: str, page_url: str = "", policy: CleaningPolicy = DEFAULT_POLICY) -> str:
    """Return the part of a publisher's HTML that is safe and useful to show. Never raises.

    Cleaning clean HTML changes nothing. The time is linear in the length.
    base_url: absolute base of relative URLs; without it relative URLs are left out.
    page_url: the address of the article, if it is not the base: links to a place in it stay inside the article.
    Allowed: `elements`, `media`, `frames`, `formulas`; allowed URLs: `attribute_checks`.
    """
    return clean_with_text(html, base_url=base_url, page_url=page_url, policy=policy).html


def clean_with_text(
    html: str, *, base_url: str, page_url: str = "", policy: CleaningPolicy = DEFAULT_POLICY
) -> CleanedHtml:
    """Return the same as `clean` with the text, which would take time to extract from the HTML later."""
    source = html.replace("\0", "") if "\0" in html else html
    try:
        encoded = source.encode()
    except UnicodeEncodeError:
        # JSON can contain lone surrogates, which UTF-8 cannot encode.
        encoded = source.encode(errors="replace")
        source = encoded.decode()
    if "<" not in source and "&" not in source:
        text = source.replace("\r\n", "\n").replace("\r", "\n").replace(">", "&gt;")
        return CleanedHtml(text, text)
    if len(source) > MAX_TAGS:  # a shorter text cannot have more tags
        source = truncate(source)
        encoded = source.encode()
    limited = limit_nesting(source, tags=count_tags(encoded))
    urls = (base_url, page_url)
    cleaned = _sanitize(limited, encoded if limited is source else limited.encode(), urls, policy)
    if len(cleaned.html) > MAX_GROWTH * len(source) + 10_000:
        closed = close_elements(source)
        cleaned = _sanitize(closed, closed.encode(), urls, policy)
    return cleaned


def _sanitize(source: str, encoded: bytes, urls: tuple[str, str], policy: CleaningPolicy) -> CleanedHtml:
    """Return the clean HTML of a source. encoded: the source in UTF-8, the input of the parser.

    urls: base_url and page_url of `clean`.
    """
    writer = _sanitize_once(source, encoded, urls, policy)
    if writer.needs_second_pass:
        again = "".join(writer.out)
        writer = _sanitize_once(again, again.encode(), urls, policy)
    return CleanedHtml("".join(writer.out), "".join(writer.text_parts))


def _sanitize_once(source: str, encoded: bytes, urls: tuple[str, str], policy: CleaningPolicy) -> CleanHtmlWriter:
    base_url, page_url = urls
    max_url_chars = MAX_URL_GROWTH * len(source) + 10_000
    links = LinkCleaner(base_url, policy.referring_hosts, page_url=page_url, max_url_chars=max_url_chars)
    return sanitize(encoded, links, policy)


_OPTIONS = LexborDocumentOptions.WO_EVENTS.value
_TEXT = 2
_COMMENT = 4

_DROPPED = frozenset(elements.tag_ids(elements.DROPPED)) | {_COMMENT}
_DROPPED_DEEP = _DROPPED | frozenset(elements.tag_ids(elements.DROPPED_DEEP))
_SCOPE_ELEMENTS = frozenset(elements.tag_ids(elements.SCOPE_ELEMENTS))
_LINE_ELEMENTS = frozenset(elements.tag_ids(elements.LINE_ELEMENTS))
_BLOCKS = _LINE_ELEMENTS | frozenset(number for number, element in elements.PLAIN.items() if element.is_block)
# Attributes that may decide if an element of no table is left out with its content.
_DECIDING = frozenset({"aria-hidden", "data-line-number", "role"})
_MAX_KNOWN = 1_000
_MAX_CLASS_CHARS = 500
_RELEVANT_UNKNOWN_ATTRIBUTES = HIDING_ATTRIBUTES | {"dir", "id"}
_BUTTON, _DIV, _FORM, _MATH, _SPAN, _TABLE, _TEXTAREA = elements.tag_ids(
    ["button", "div", "form", "math", "span", "table", "textarea"]
)


def sanitize(source: bytes, links: LinkCleaner, policy: CleaningPolicy) -> CleanHtmlWriter:
    """Return the writer with the clean HTML. source: UTF-8.

    Iterative, because documents can be nested to any depth.
    """
    writer = CleanHtmlWriter(source, links, policy, handler=_handle_html, deep_handler=_handle_text_only)
    # The parser owns the nodes and must outlive the loop.
    parser = LexborHTMLParser(source, is_fragment=True, options=_OPTIONS)
    node = parser.root
    above: list[tuple[LexborNode, str, ElementHandler]] = []
    while node is not None:
        number = node.tag_id
        if number == _TEXT:
            writer.text(node.text_content or "")
        else:
            handler = writer.handler
            # The usual handler is inlined, because this loop runs for each element.
            close = (
                _HTML_HANDLERS.get(number, _handle_unknown)(writer, node)
                if handler is _handle_html
                else handler(writer, node)
            )
            if close is not None:
                child = node.first_child
                if child is not None:
                    above.append((node, close, handler))
                    node = child
                    continue
                if close:
                    writer.end(close)
                writer.handler = handler
        following = node.next
        while following is None and above:
            node, close, writer.handler = above.pop()
            if close:
                writer.end(close)
            following = node.next
        node = following
    writer.finish()
    return writer


def _handle_html(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
    """Handles an element of ordinary HTML."""
    return _HTML_HANDLERS.get(node.tag_id, _handle_unknown)(writer, node)


def _handler_for(element: elements.AllowedElement) -> ElementHandler:
    """Return the handler of an allowed element."""
    relevant = HIDING_ATTRIBUTES.union(element.checks, {"id"})
    keeps_id = "id" in element.checks
    name, has_own, can_split = element.name, element.has_own_attributes, element.can_split

    def write(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
        tag, style, id_ = element.bare_tag, None, None
        attributes = node.attributes
        # Most elements have no relevant attribute; one set operation decides that.
        if attributes and not relevant.isdisjoint(attributes):
            if writer.hides(attributes):
                return None
            style, id_ = attributes.get("style"), attributes.get("id")
            if style and style_marks.cancels(name, style):
                writer.add_id_of_left_out(id_)
                return writer.start_style(node, style, "")
            if has_own or (("dir" in attributes or "lang" in attributes) and writer.has_common_attributes):
                tag = start_tag(name, attributes, element.checks, writer.links)
        if can_split and writer.open_elements and writer.would_split(name):
            writer.add_id_of_left_out(id_)
            if writer.open_pres and name == "pre":
                writer.start_line()
            return LINE_END if element.is_block else ""
        close = writer.plain(element, tag)
        if id_:
            writer.add_id(id_, is_kept=keeps_id)
        return writer.start_style(node, style, close) if style and element.can_hold_marks else close

    return write


def _handle_dropped(_: CleanHtmlWriter, __: LexborNode) -> None:
    """Leaves out the element with its content."""


def _handle_unknown(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
    """Leaves out the tags of an element that is in no table, and keeps its content."""
    number = node.tag_id
    if number in _SCOPE_ELEMENTS:
        writer.needs_second_pass |= "p" in writer.open_elements
    attributes = node.attributes
    if attributes:
        classes = attributes.get("class")
        is_telling = bool(classes) and _is_telling((classes or "")[:_MAX_CLASS_CHARS])
        # Highlighted code has a `span` with a class for each word.
        if classes and not is_telling and number == _SPAN and len(attributes) == 1:
            return ""
        if (is_telling or not _DECIDING.isdisjoint(attributes)) and _is_left_out(writer, node, attributes):
            return None
        if not _RELEVANT_UNKNOWN_ATTRIBUTES.isdisjoint(attributes):
            if writer.hides(attributes):
                return None
            return _handle_attributes(writer, node, attributes)
    # Elements unknown to the parser have numbers of their own in each document.
    if number > _MAX_KNOWN and (name := node.tag or "").startswith(("amp-", "mjx-")):
        if name.startswith("amp-"):
            return handle_amp(writer, node, name)
        if formulas.is_copy(node, attributes):
            return None
    return _start_line(writer, number, attributes)


@lru_cache(maxsize=2_048)
def _is_telling(classes: str) -> bool:
    """Return whether one of the classes of an element may decide if it is left out, or is a line of code."""
    return code_samples.has_meaning(classes) or formulas.has_meaning(classes) or controls.has_meaning(classes)


def _handle_attributes(writer: CleanHtmlWriter, node: LexborNode, attributes: Attributes) -> str | None:
    """Keeps what `dir`, `style` and `id` say about an element that is otherwise left out."""
    number = node.tag_id
    style = style_marks.read_style(attributes.get("style") or "")
    if style is not None:
        if style.keeps_blanks and number == _DIV and _is_preformatted(writer, node):
            return writer.plain(elements.PRE, elements.PRE.bare_tag)
        if style.is_not_selectable and writer.open_pres and has_only_digits(node):
            return None
    if (
        "dir" in attributes
        and writer.has_common_attributes
        and attribute_checks.direction(attributes["dir"] or "", writer.links)
    ):
        close = _keep_direction(writer, number, attributes)
    elif number > _MAX_KNOWN and (node.tag or "").startswith("amp-"):
        return handle_amp(writer, node, node.tag or "")
    else:
        close = _start_line(writer, number, attributes)
    writer.add_id_of_left_out(attributes.get("id"))
    if style is None:
        return close
    if style.is_block and not close:
        writer.start_line()
        close = LINE_END
    # A form may be between the rows of a table, where no other element is allowed.
    return close if number == _FORM or not style.marks else writer.start_marks(node, style.marks, close)


def _start_line(writer: CleanHtmlWriter, number: int, attributes: Attributes) -> str:
    """Starts a line for a block, or for a line of code; other elements continue the line."""
    if writer.open_pres and number not in _BLOCKS and code_samples.is_line(attributes):
        writer.start_line()
        return LINE_END
    return _end_line(writer, number)


def _is_left_out(writer: CleanHtmlWriter, node: LexborNode, attributes: Attributes) -> bool:
    """Return whether an element of no table is left out with its content."""
    return (
        (writer.open_pres > 0 and code_samples.is_line_number(node, attributes))
        or formulas.is_copy(node, attributes)
        or controls.is_control(node, attributes, writer.open_elements)
    )


def _handle_button(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
    return None if controls.is_button(node, writer.open_elements) else _handle_unknown(writer, node)


def _handle_form(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
    return None if controls.is_form(node) else _handle_unknown(writer, node)


def _is_preformatted(writer: CleanHtmlWriter, node: LexborNode) -> bool:
    """Return whether a `div` whose style keeps blanks and line ends may be a `pre`."""
    above = writer.open_elements
    return (
        not writer.open_pres
        and "p" not in above
        and not (above and above[-1] in elements.TABLE_STRUCTURE)
        and has_line_feed(node)
    )


def _keep_direction(writer: CleanHtmlWriter, number: int, attributes: Attributes) -> str:
    """Keep an otherwise useless element for its writing direction, as `span` or `div`."""
    if number == _SPAN:
        return writer.start_inline("span", start_tag("span", attributes, elements.COMMON_ATTRIBUTES, writer.links))
    # A form may be between the rows of a table, where no other element is allowed.
    if number in _LINE_ELEMENTS and number != _FORM:
        return writer.start_block("div", start_tag("div", attributes, elements.COMMON_ATTRIBUTES, writer.links))
    return _end_line(writer, number)


def _end_line(writer: CleanHtmlWriter, number: int) -> str:
    if number not in _BLOCKS:
        return ""
    writer.start_line()
    return LINE_END


def _handle_text_only(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
    """Keep only the text of content that is nested too deeply."""
    number = node.tag_id
    return None if number in _DROPPED_DEEP else _end_line(writer, number)


def _handle_formula(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
    """Handles an element of MathML, see `formulas`."""
    name = node.tag or ""
    if name in formulas.DROPPED:
        return None
    if name not in formulas.ELEMENTS:
        return ""
    return writer.start_inline(name, formulas.element_start_tag(name, node.attributes, writer.links))


def _handle_table(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
    """Handles a table; one that shows lines of code becomes the code."""
    table = code_samples.read_code_table(node, is_in_pre=writer.open_pres > 0)
    if table is None or writer.hides(node.attributes):
        return _TABLE_HANDLER(writer, node)
    if writer.open_pres:
        writer.start_line()
        writer.text(table.text)
        writer.end_line()
        return None
    writer.needs_second_pass |= "p" in writer.open_elements
    tag = start_tag("code", {"class": table.classes}, elements.CODE_ATTRIBUTES, writer.links)
    writer.block_of_code(tag, table.text)
    return None


def _handle_textarea(writer: CleanHtmlWriter, node: LexborNode) -> None:
    """Writes the code in a `textarea` of an old highlighter. Any other is a field, or a copy of code to select."""
    attributes = node.attributes
    if attributes.get("name") == "code" and not writer.open_pres and not writer.hides(attributes):
        writer.needs_second_pass |= "p" in writer.open_elements
        writer.block_of_code("<code>", node.text().strip("\n"))


def _handle_math(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
    attributes = node.attributes
    if writer.hides(attributes):
        return None
    writer.handler = _handle_formula
    return writer.start_inline("math", formulas.math_start_tag(attributes, writer.links))


_TABLE_HANDLER = _handler_for(elements.PLAIN[_TABLE])

# Allowed elements, dropped elements, media, and the root of MathML.
_HTML_HANDLERS: Mapping[int, ElementHandler] = {
    **{number: _handler_for(element) for number, element in elements.PLAIN.items()},
    **dict.fromkeys(_DROPPED, _handle_dropped),
    **MEDIA_HANDLERS,
    _BUTTON: _handle_button,
    _FORM: _handle_form,
    _TABLE: _handle_table,
    _TEXTAREA: _handle_textarea,
    _MATH: _handle_math,
}
