"""HTML compared by what a parser makes of it, and looked through for what must never be in it.

Neither part uses the tables of the code under test: the list of welcome things is written down here once more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import lxml.html
import nh3
from lxml import etree
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.content.cleaning import clean

PAGE = "https://blog.example/posts/rain.html"

Tree = tuple[object, ...]

UNWELCOME_ELEMENTS = frozenset(
    {"script", "object", "embed", "base", "form", "meta", "link", "style", "svg", "template", "noscript"}
    | {"input", "button", "textarea", "select", "frame", "frameset", "applet", "title", "xmp", "plaintext"}
)
UNWELCOME_SCHEMES = ("javascript:", "vbscript:", "data:", "file:", "blob:", "about:", "view-source:", "mhtml:")
ADDRESSES = frozenset({"href", "src", "poster", "cite", "srcset", "action", "formaction", "background"})
FRAME = re.compile(
    r"https://(www\.)?(bandcamp\.com|cdn\.embedly\.com|dailymotion\.com|framatube\.org|open\.spotify\.com"
    r"|player\.bilibili\.com|player\.twitch\.tv|player\.vimeo\.com|(w\.)?soundcloud\.com|vk\.com"
    r"|youtube(-nocookie)?\.com)(/|\?|$)"
)


def cleaned(html: str) -> str:
    return clean(html, base_url=PAGE)


def words(text: str) -> list[str]:
    return text.split()


def tree(html: str) -> Tree:
    """Return elements as (name, attributes, children), and texts as they are; adjacent texts are joined."""
    return _children(LexborHTMLParser(html, is_fragment=True).root)


def _children(first: LexborNode | None) -> Tree:
    found: list[object] = []
    node = first
    while node is not None:
        if node.is_text_node:
            text = node.text_content or ""
            if found and isinstance(found[-1], str):
                found[-1] += text
            else:
                found.append(text)
        elif node.is_element_node:
            attributes = tuple(sorted((name, value or "") for name, value in node.attributes.items()))
            found.append((node.tag, attributes, _children(node.first_child)))
        node = node.next
    return tuple(found)


def attributes_of(html: str, name: str) -> dict[str, str]:
    """Return the attributes of the first element of that name."""
    node = LexborHTMLParser(html, is_fragment=True).css_first(name)
    assert node is not None, f"no {name} in {html}"
    return {key: value or "" for key, value in node.attributes.items()}


def dangers(html: str) -> list[str]:
    """What must not be in cleaned HTML, in words; as three parsers see it."""
    found = [f"lexbor: {danger}" for danger in _dangers_in(_by_lexbor(html))]
    found += [f"libxml2: {danger}" for danger in _dangers_in(_by_libxml2(html))]
    # html5ever: whatever it would take away besides what we added ourselves is suspicious.
    scripts = nh3.clean(html, tags={"script", "style", "svg"}, clean_content_tags=set(), attributes={})
    if re.search(r"<(script|style|svg)", scripts):
        found.append(f"html5ever: {scripts[:80]}")
    return found


def _by_lexbor(html: str) -> Iterator[tuple[str, dict[str, str]]]:
    for node in LexborHTMLParser(html).css("*"):
        yield node.tag or "", {name: value or "" for name, value in node.attributes.items()}


def _by_libxml2(html: str) -> Iterator[tuple[str, dict[str, str]]]:
    if not html.strip():
        return
    try:
        root = lxml.html.document_fromstring(f"<div>{html}</div>")
    except etree.ParserError:
        return
    for element in root.iter():
        if isinstance(element.tag, str):
            yield element.tag, {str(name): str(value) for name, value in element.attrib.items()}


def _dangers_in(elements: Iterator[tuple[str, dict[str, str]]]) -> Iterator[str]:
    for name, attributes in elements:
        if name.rpartition(":")[2] in UNWELCOME_ELEMENTS:
            yield f"<{name}>"
        for key, value in attributes.items():
            if key.startswith("on") or key in {"style", "srcdoc", "formaction", "action"}:
                yield f"<{name} {key}={value!r}>"
            if key in ADDRESSES and _is_dangerous(name, key, value):
                yield f"<{name} {key}={value!r}>"
        if name == "iframe" and not (FRAME.match(attributes.get("src", "")) and attributes.get("sandbox")):
            yield f"<iframe {attributes}>"


def _is_dangerous(name: str, key: str, value: str) -> bool:
    plain = re.sub(r"[\x00-\x20\x7f-\xa0\u1680\u2000-\u200f\u2028\u2029\ufeff]", "", value).lower()
    if name == "img" and key == "src" and plain.startswith("data:image/"):
        return False
    return plain.startswith(UNWELCOME_SCHEMES)
