"""SVG icons: only shapes, colours and text are copied; nothing that runs, loads or refers to the outside."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree
from lxml.etree import _Element

from tidings.base.text import name_set
from tidings.content.formats.charset import decode
from tidings.content.xml.parsing import xml_parser

MAX_BYTES: Final = 256 * 1024
MAX_ELEMENTS: Final = 3_000
MAX_COPIES: Final = 50

_NAMESPACE: Final = "http://www.w3.org/2000/svg"
_SHAPES: Final = name_set("path rect circle ellipse line polyline polygon text use")
_WITH_TEXT: Final = name_set("text tspan title desc style")
_ELEMENTS: Final = (
    _SHAPES
    | _WITH_TEXT
    | name_set("""
    svg g defs symbol clipPath mask linearGradient radialGradient stop
""")
)
_ATTRIBUTES: Final = name_set("""
    id class x y x1 y1 x2 y2 cx cy r rx ry fx fy width height d points viewBox version preserveAspectRatio transform
    fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit
    stroke-dasharray stroke-dashoffset opacity color clip-path clip-rule mask style display visibility
    offset stop-color stop-opacity gradientUnits gradientTransform spreadMethod clipPathUnits maskUnits
    maskContentUnits font-family font-size font-weight font-style text-anchor dominant-baseline letter-spacing
    vector-effect shape-rendering paint-order dx dy href
""")
_REFERRING: Final = name_set("use linearGradient radialGradient")

# Atomic group: a comment is matched in one way only.
_START: Final = re.compile(
    r"(?>\s+|<\?[^>]*>|<!--.*?-->|<!DOCTYPE[^\[>]*>)*+(?=<(?:\w+:)?svg[\s>])", re.DOTALL | re.IGNORECASE
)
_LOCAL_URL: Final = re.compile(r"""url\(\s*["']?#[\w.-]+["']?\s*\)|@media\b""", re.IGNORECASE)
_OUTSIDE: Final = re.compile(r"url\s*\(|[\\@<]|//|/\*|script|expression|import|behaviou?r|binding|data:", re.IGNORECASE)


def sanitize_svg(body: bytes) -> bytes | None:
    """Return the drawing without active content. None if it is not an SVG, is damaged, or has nothing to show.

    Documents with declared entities or with nested copies, which could multiply without limit, are refused.
    """
    if len(body) > MAX_BYTES or b"svg" not in body[:4096]:
        return None
    text = decode(body)
    start = _START.match(text)
    if start is None:
        return None
    try:
        source = etree.fromstring(text[start.end() :].encode("utf-8", "replace"), xml_parser())
    except etree.XMLSyntaxError:
        return None
    if _local(source) != "svg" or sum(1 for _ in source.iter()) > MAX_ELEMENTS:
        return None
    drawing = etree.Element(f"{{{_NAMESPACE}}}svg", nsmap={None: _NAMESPACE})
    _copy(source, drawing)
    if not _has_shapes(drawing) or _has_too_many_copies(drawing):
        return None
    return etree.tostring(drawing)


def _copy(source: _Element, target: _Element) -> None:
    """Copies allowed elements and attributes. The parser limits depth to 256 levels, so that recursion is safe."""
    name = _local(source)
    for key, value in source.items():
        attribute = "href" if str(key).endswith("}href") else str(key)
        if attribute in _ATTRIBUTES and _is_harmless(name, attribute, str(value)):
            target.set(attribute, str(value))
    if name in _WITH_TEXT and source.text and (name != "style" or not _refers_outside(source.text)):
        target.text = source.text
    for child in source:
        if _local(child) in _ELEMENTS:
            copied = etree.SubElement(target, f"{{{_NAMESPACE}}}{_local(child)}")
            _copy(child, copied)
            copied.tail = child.tail if name in _WITH_TEXT else None


def _local(element: _Element) -> str:
    """Return the local name of an element in SVG's namespace or in none; "" for every other element."""
    if not isinstance(element.tag, str):
        return ""
    namespace, _, name = element.tag.rpartition("}")
    return name if namespace in ("", f"{{{_NAMESPACE}") else ""


def _is_harmless(element: str, attribute: str, value: str) -> bool:
    if attribute == "href":
        return element in _REFERRING and value.startswith("#")
    return not _refers_outside(value)


def _refers_outside(value: str) -> bool:
    return _OUTSIDE.search(_LOCAL_URL.sub("", value)) is not None


def _has_shapes(drawing: _Element) -> bool:
    return any(_local(element) in _SHAPES for element in drawing.iter())


def _has_too_many_copies(drawing: _Element) -> bool:
    """Return whether there are too many `use` elements, or one inside an element that is itself used."""
    copies = [element for element in drawing.iter() if _local(element) == "use"]
    copied = {element.get("href", "")[1:] for element in copies} - {""}
    around = {around.get("id") for copy in copies for around in (copy, *copy.iterancestors())}
    return len(copies) > MAX_COPIES or not around.isdisjoint(copied)
