"""Inline drawings (SVG): a picture becomes an `img` with a `data:` URL, an icon its title.

Inside an `img` browsers run no scripts of a drawing and load nothing for it. Independent of that, only elements and
attributes that draw are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from selectolax.lexbor import LexborNode

from tidings.base.text import name_set
from tidings.content.cleaning.attribute_checks import Attributes, escape_text, escape_value

# Drawings with a smaller side are icons.
MIN_SIDE_PX: Final = 64
# The size of a drawing without one. Source: CSS Images Level 3, section 4.3 (default object size).
_DEFAULT_SIDES_PX: Final = (300.0, 150.0)
MAX_NODES: Final = 5_000
MAX_CHARS: Final = 200_000
_MAX_TEXT_CHARS: Final = 500

_SHAPES = name_set("circle ellipse line path polygon polyline rect text")
_ELEMENTS = _SHAPES | name_set("""
    clipPath defs desc g linearGradient marker mask pattern radialGradient stop svg symbol textPath title tspan use
""")
_ATTRIBUTES = name_set("""
    alignment-baseline baseline-shift clip-path clip-rule clipPathUnits cx cy d direction display dominant-baseline dx
    dy fill fill-opacity fill-rule font-family font-size font-style font-variant font-weight fx fy gradientTransform
    gradientUnits height id lengthAdjust letter-spacing marker-end marker-mid marker-start markerHeight markerUnits
    markerWidth mask maskContentUnits maskUnits offset opacity orient overflow paint-order pathLength
    patternContentUnits patternTransform patternUnits points preserveAspectRatio r refX refY rotate rx ry
    shape-rendering spreadMethod
    startOffset stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin
    stroke-miterlimit stroke-opacity stroke-width style text-anchor text-decoration textLength transform vector-effect
    viewBox visibility width word-spacing writing-mode x x1 x2 y y1 y2
""")
# A reference to another document, an import or an escape that could hide one.
_OUTSIDE = re.compile(r"""url\(\s*["']?(?!\s*["']?#)|@|\\|expression|image\(|image-set\(""", re.IGNORECASE)
_LENGTH = re.compile(r"\s*([0-9]{1,5}(?:\.[0-9]{1,6})?)(?:px)?\s*")
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_PERCENT = {ord("%"): "%25", ord("#"): "%23", ord("<"): "%3C", ord(">"): "%3E", ord('"'): "'"}


class Drawing(Struct, frozen=True):
    """A drawing in the content (SVG), as the image that replaces it."""

    url: str
    """A `data:` URL; "" for an icon, an empty drawing, or one that is too large or cannot be drawn this way."""
    text: str
    """The title of the drawing, else the text in it; "" if it has none."""
    width: str = ""
    height: str = ""


def read_drawing(node: LexborNode) -> Drawing:
    """Return the drawing of an `svg` element."""
    attributes = node.attributes
    title = _title(node, attributes)
    width, height = attributes.get("width") or "", attributes.get("height") or ""
    url = _data_url(node) if min(_sides(attributes)) >= MIN_SIDE_PX else ""
    return Drawing(url, title or (_words(node) if url else ""), width, height)


def _title(node: LexborNode, attributes: Attributes) -> str:
    text = attributes.get("aria-label") or ""
    child = node.first_child
    while child is not None and not text:
        if child.tag == "title":
            text = child.text()
        child = child.next
    return " ".join(text.split())[:_MAX_TEXT_CHARS]


def _words(node: LexborNode) -> str:
    parts = (part.text() for part in node.css("text"))
    return " ".join(" ".join(parts).split())[:_MAX_TEXT_CHARS]


def _sides(attributes: Attributes) -> tuple[float, float]:
    """Return the width and height in pixels; a missing one follows from the other by the `viewBox`."""
    width, height = (_pixels(attributes.get(name)) for name in ("width", "height"))
    box = [_pixels(part) for part in (attributes.get("viewBox") or "").replace(",", " ").split()]
    box_width, box_height = (box[2], box[3]) if len(box) == 4 and box[2] and box[3] else _DEFAULT_SIDES_PX
    if width and height:
        return width, height
    if width or height:
        return width or height * box_width / box_height, height or width * box_height / box_width
    return box_width, box_height


def _pixels(value: str | None) -> float:
    match = _LENGTH.fullmatch(value or "")
    return float(match[1]) if match else 0.0


def _data_url(svg: LexborNode) -> str:
    written: list[str] = []
    size, has_shape = 0, False
    for count, (piece, name) in enumerate(_pieces(svg)):
        size += len(piece)
        if count > MAX_NODES or size > MAX_CHARS or name == "foreignObject":
            return ""
        has_shape |= name in _SHAPES
        written.append(piece)
    if not has_shape:
        return ""
    text = " ".join(_NOT_XML.sub("", "".join(written)).split())
    return "data:image/svg+xml," + text.translate(_PERCENT)


def _pieces(svg: LexborNode) -> Iterator[tuple[str, str]]:
    """Yield the drawing as XML in pieces, each with the name of the element that it starts, or ""."""
    open_nodes: list[LexborNode] = []
    node: LexborNode | None = svg
    while node is not None:
        name = node.tag or ""
        if node.is_text_node:
            yield escape_text(node.text_content or ""), ""
        elif name == "foreignObject":
            yield "", name
        elif name in _ELEMENTS:
            yield _start_tag(name, node.attributes, is_root=node is svg), name
            child = node.first_child
            if child is not None:
                open_nodes.append(node)
                node = child
                continue
            yield f"</{name}>", ""
        following = None if node is svg else node.next
        while following is None and open_nodes:
            node = open_nodes.pop()
            yield f"</{node.tag}>", ""
            following = node.next if open_nodes else None
        node = following


def _start_tag(name: str, attributes: Attributes, *, is_root: bool) -> str:
    written = f"<{name}"
    for key, value in attributes.items():
        text = (value or "").strip()
        is_reference = key in ("href", "xlink:href") and text.startswith("#")
        if is_reference or (key in _ATTRIBUTES and not _OUTSIDE.search(text)):
            written += f' {"href" if is_reference else key}="{escape_value(text)}"'
    return written + (' xmlns="http://www.w3.org/2000/svg">' if is_root else ">")
