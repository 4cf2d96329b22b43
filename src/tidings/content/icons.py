"""Icons of feeds: where they are, and how images from outside become small and harmless. And Tidings' own icon.

declared_icons    the icons that a page declares, the best first
sanitize_svg      any bytes ─► an SVG of which only shapes, colours and text are copied, or None
scale_to_png      any bytes ─► a small PNG, of which nothing is the original file's, or None
render_app_icon   Tidings' own icon as PNG, for systems that do not accept SVG

`scale_to_png` is called in a process of its own only (`services.pictures`): an image can be made to exhaust time and
memory. Pillow is imported with the first one.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from functools import lru_cache
from io import BytesIO
from typing import Final
from urllib.parse import unquote_to_bytes, urlsplit

import msgspec
from lxml import etree
from lxml.etree import _Element
from msgspec import Struct

from tidings.base.text import name_set
from tidings.base.times import DAY, Instant
from tidings.content.discovery.page_links import PageLink, PageLinks
from tidings.content.formats.charset import decode
from tidings.content.pictures.headers import read_header
from tidings.content.urls import resolve_web_url
from tidings.content.xml.elements import xml_parser

# SVG

MAX_SVG_BYTES: Final = 256 * 1024
MAX_SVG_ELEMENTS: Final = 3_000
MAX_SVG_COPIES: Final = 50

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
    if len(body) > MAX_SVG_BYTES or b"svg" not in body[:4096]:
        return None
    text = decode(body)
    start = _START.match(text)
    if start is None:
        return None
    try:
        source = etree.fromstring(text[start.end() :].encode("utf-8", "replace"), xml_parser())
    except etree.XMLSyntaxError:
        return None
    if _local(source) != "svg" or sum(1 for _ in source.iter()) > MAX_SVG_ELEMENTS:
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
    return len(copies) > MAX_SVG_COPIES or not around.isdisjoint(copied)


# Raster images

SIDE: Final = 64
MAX_SIDE: Final = 4096
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "ICO", "BMP", "AVIF")


def scale_to_png(body: bytes) -> bytes | None:
    """Return a PNG that fits into 64 by 64 pixels, aspect ratio kept; of an animation, the first frame.

    None if the bytes are not an image, or one with a side of more than 4,096 pixels or too costly to decode.
    """
    header = read_header(body)
    if header is not None and (max(header.width, header.height) > MAX_SIDE or not header.is_cheap):
        return None

    from PIL import Image

    # Also limits images inside others (ICO), whose size is only known when they are decoded.
    Image.MAX_IMAGE_PIXELS = MAX_SIDE * MAX_SIDE
    try:
        with Image.open(BytesIO(body), formats=_FORMATS) as image:
            if max(image.size) > MAX_SIDE:
                return None
            # A JPEG can be decoded at a fraction of its size.
            image.draft("RGB", (2 * SIDE, 2 * SIDE))
            picture = image.convert("RGBA")
        picture.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
        if picture.getchannel("A").getextrema() == (255, 255):
            picture = picture.convert("RGB")
        out = BytesIO()
        picture.save(out, "PNG", optimize=True)
    except Exception:  # noqa: BLE001 - damaged pictures make decoders raise almost anything
        return None
    return out.getvalue()


# Icons of feeds

# A site with an icon may replace it; a site without one rarely gets one.
RECHECK_AFTER = 30 * DAY
RECHECK_AFTER_NONE_FOUND = 7 * DAY

PNG = "image/png"
SVG = "image/svg+xml"


class IconImage(Struct, frozen=True):
    """An image that is safe to serve under its media type."""

    mime_type: str
    content: bytes


class Icon(Struct, frozen=True):
    """An icon as stored, shared by all feeds that show it."""

    id: int
    mime_type: str
    content: bytes


def is_due(checked_at: Instant | None, *, has_icon: bool, now: Instant) -> bool:
    """Return whether to look for an icon. checked_at: when that was last done, None for never."""
    if checked_at is None:
        return True
    return now - checked_at >= (RECHECK_AFTER if has_icon else RECHECK_AFTER_NONE_FOUND)


# Where icons are

MAX_URL: Final = 2_000
_MAX_MANIFEST_ICONS: Final = 50

_RELATIONS: Final = frozenset({"icon", "apple-touch-icon", "apple-touch-icon-precomposed"})
_SIZE: Final = re.compile(r"(\d{1,5})x(\d{1,5})")
# Pixels: usual sizes of icons that declare none.
_DEFAULT_SIDE_PX: Final = 32
_DEFAULT_TOUCH_SIDE_PX: Final = 180
_DATA: Final = re.compile(r"data:image/[\w.+-]+((?:;[\w.=+\"-]+)*),", re.IGNORECASE)


def declared_icons(page: PageLinks) -> list[str]:
    """Return the URLs of the icons that a page declares, the best first.

    The best icon is large enough and not larger than necessary.
    """
    icons = [link for link in page.links if link.rel & _RELATIONS]
    return list(dict.fromkeys(link.url for link in sorted(icons, key=_size_rank)))


def manifest_url(page: PageLinks) -> str:
    """Return the URL of the page's web app manifest, "" if it declares none."""
    return next((link.url for link in page.links if "manifest" in link.rel and not link.url.startswith("data:")), "")


def manifest_icons(body: bytes, url: str) -> list[str]:
    """Return the URLs of the icons in a web app manifest, the best first; [] for any other document.

    url: the manifest's URL, the base of relative ones. Source: W3C, Web Application Manifest.
    """
    try:
        manifest = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return []
    listed = manifest.get("icons") if isinstance(manifest, dict) else None
    icons = [
        PageLink(
            resolve_web_url(url, _text(icon, "src")),
            frozenset({"icon"}),
            _text(icon, "type").lower(),
            sizes=_text(icon, "sizes").lower(),
        )
        for icon in (listed[:_MAX_MANIFEST_ICONS] if isinstance(listed, list) else ())
        # A monochrome icon is a stencil.
        if isinstance(icon, dict) and _text(icon, "src") and _text(icon, "purpose") != "monochrome"
    ]
    return list(dict.fromkeys(icon.url for icon in sorted(icons, key=_size_rank) if usable_icon_url(icon.url)))


def _text(icon: dict[str, object], name: str) -> str:
    value = icon.get(name)
    return value.strip() if isinstance(value, str) else ""


def usable_icon_url(url: str) -> str:
    """Return the icon URL that a feed declares if it is an http(s) URL of acceptable length, else ""."""
    return url if url.startswith(("http://", "https://")) and len(url) <= MAX_URL else ""


def icon_pages(site_url: str, feed_url: str) -> list[str]:
    """Return the URLs of the pages that may declare an icon: the feed's site, and the root of that site."""
    site = "" if site_url == feed_url else site_url
    return [url for url in dict.fromkeys((site, _root(site_url or feed_url))) if url]


def root_icons(site_url: str) -> list[str]:
    """Return the URLs of icons that browsers look for at the root of a site; [] for a URL without a host."""
    root = _root(site_url)
    return [f"{root}favicon.ico", f"{root}apple-touch-icon.png"] if root else []


def decode_data_url(url: str) -> bytes:
    """Return the bytes of an image in a `data:` URL (RFC 2397), b"" if they cannot be decoded."""
    head = _DATA.match(url)
    if head is None:
        return b""
    content = unquote_to_bytes(url[head.end() :])
    if ";base64" not in head[1].lower():
        return content
    try:
        return base64.b64decode(bytes(content.translate(None, b" \t\r\n")) + b"==")
    except binascii.Error:
        return b""


def _root(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/" if parts.scheme in ("http", "https") else ""


def _size_rank(link: PageLink) -> tuple[int, int]:
    """Return the rank of the link's best size; smaller is better."""
    side = min(_declared_sides(link), key=_rank_side)
    return _rank_side(side)


def _rank_side(side: int) -> tuple[int, int]:
    """Return the rank of a size: sizes that are large enough first, the smallest of them best; then the small ones."""
    return (0, side) if side >= SIDE else (1, -side)


def _declared_sides(link: PageLink) -> Iterable[int]:
    if link.type == "image/svg+xml" or "any" in link.sizes.split():
        # SVG fits every size, but a PNG of the right size renders faster and everywhere.
        return [4 * SIDE]
    sizes = [max(int(width), int(height)) for width, height in _SIZE.findall(link.sizes)]
    return sizes or [_DEFAULT_SIDE_PX if "icon" in link.rel else _DEFAULT_TOUCH_SIDE_PX]


# Tidings' own icon

# As in `static/icon.svg`, on a grid of 64.
APP_ICON_GRID: Final = 64
BACKGROUND_COLOR: Final = "#b4441f"
LINE_COLOR: Final = "#fbfaf7"
_STROKE: Final = 6
# The icon is drawn larger by this factor and scaled down, for smooth edges.
_OVERSAMPLING: Final = 4


@lru_cache(maxsize=8)
def render_app_icon(side: int, *, is_maskable: bool = False) -> bytes:
    """Return the icon as PNG. side: pixels.

    is_maskable: the background fills the square, and the drawing keeps away from its edges.
    """
    from PIL import Image, ImageDraw  # only when it is drawn, for the sake of memory

    scale = side * _OVERSAMPLING / APP_ICON_GRID
    shrunk = 0.72 if is_maskable else 1.0
    image = Image.new(
        "RGBA", (side * _OVERSAMPLING, side * _OVERSAMPLING), BACKGROUND_COLOR if is_maskable else (0, 0, 0, 0)
    )
    draw = ImageDraw.Draw(image)

    def at(value: float) -> float:
        return (APP_ICON_GRID / 2 + (value - APP_ICON_GRID / 2) * shrunk) * scale

    def dot(x: float, y: float, radius: float) -> None:
        reach = radius * shrunk * scale
        draw.ellipse((at(x) - reach, at(y) - reach, at(x) + reach, at(y) + reach), fill=LINE_COLOR)

    if not is_maskable:
        draw.rounded_rectangle((0, 0, image.width - 1, image.height - 1), radius=14 * scale, fill=BACKGROUND_COLOR)
    for begin, end in (((16.0, 19.0), (48.0, 19.0)), ((32.0, 19.0), (32.0, 48.0))):
        line = (at(begin[0]), at(begin[1]), at(end[0]), at(end[1]))
        draw.line(line, fill=LINE_COLOR, width=round(_STROKE * shrunk * scale))
        dot(*begin, _STROKE / 2)
        dot(*end, _STROKE / 2)
    dot(47, 45, 4.5)
    out = BytesIO()
    image.resize((side, side), Image.Resampling.LANCZOS).save(out, "PNG", optimize=True)
    return out.getvalue()
