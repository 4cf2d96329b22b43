"""Pictures: lazy ones made to load, invisible ones left out."""

from __future__ import annotations

import re
from collections.abc import Callable

from tidings.domain.cleaning import attributes as check
from tidings.domain.cleaning.attributes import Attributes, Check, escape_value
from tidings.domain.cleaning.links import Links, picture_data
from tidings.domain.cleaning.srcset import clean_srcset

# Where scripts for lazy loading keep the address until the reader scrolls there; the usual ones first.
LAZY_SRC = (
    "data-src",
    "data-lazy-src",
    "data-original",
    "data-orig",
    "data-url",
    "data-actualsrc",
    "data-original-mos",
    "data-orig-file",
    "data-large-file",
    "data-medium-file",
    *(f"data-{width}src" for width in (2000, 1000, 800, 655, 500, 380)),
)
LAZY_SRCSET = ("data-srcset", "data-lazy-srcset")
# Most pictures have nothing of the kind, which is seen at once.
_ANY_LAZY_SRC, _ANY_LAZY_SRCSET = frozenset(LAZY_SRC), frozenset(LAZY_SRCSET)
# Without one of these a picture is neither hidden nor lazy, and has one address at most: `plain_image` will do.
UNUSUAL = check.HIDING | _ANY_LAZY_SRC | _ANY_LAZY_SRCSET | {"srcset"}

# A picture file named after what it stands in for. Two looks, each in proportion to the length of the address: a single
# expression would go over the rest of it at every such word. Nearly all pictures are spared the second.
_STAND_IN = re.compile(
    r"[/_.-](?=[1beglpst])(?:blank|spacer|pixel|placeholder|transparent|lazy(?:[-_]?load(?:er|ing)?)?|loading|1x1|empty"
    r"|grey|gray)(?=[_.-])",
    re.IGNORECASE,
)
_PICTURE_FILE = re.compile(
    r"(?<![\w.-])[\w.-]++(?:(?<=\.gif|\.png|\.svg|\.jpg)|(?<=\.jpeg|\.webp))(?=[?#]|$)", re.IGNORECASE
)
_SIZE = re.compile(r"[1-9][0-9]{0,5}")
_INVISIBLE = re.compile(r"\s*0*[01](?:px)?\s*", re.IGNORECASE)
_INVISIBLE_WIDTH = re.compile(r"(?:^|;)\s*width\s*:\s*[01](?:px)?\s*(?:!important\s*)?(?:;|$)", re.IGNORECASE)
_INVISIBLE_HEIGHT = re.compile(r"(?:^|;)\s*height\s*:\s*[01](?:px)?\s*(?:!important\s*)?(?:;|$)", re.IGNORECASE)

_CHECKS: dict[str, Check] = {
    "alt": lambda value, _: value,
    "title": check.text,
    "sizes": check.text,
    "width": check.matching(_SIZE),
    "height": check.matching(_SIZE),
    "fetchpriority": check.one_of("high", "low", "auto"),
    "decoding": check.one_of("sync", "async", "auto"),
    "dir": check.direction,
    "lang": check.language,
}
_SOURCE_CHECKS: dict[str, Check] = {
    "type": check.text,
    "media": check.text,
    "sizes": check.text,
    "width": check.matching(_SIZE),
    "height": check.matching(_SIZE),
}


def image(attributes: Attributes, links: Links) -> str:
    """The whole `img` element; "" when nothing would be seen of it."""
    if _is_invisible(attributes):
        return ""
    return _with_sources("img", attributes, links.picture, links, _CHECKS, ' loading="lazy"')


def plain_image(attributes: Attributes, links: Links) -> str:
    """The same in fewer steps. attributes: none of them `UNUSUAL`."""
    width, height = attributes.get("width"), attributes.get("height")
    if width and height and _is_pixel(width, height):
        return ""
    written = attributes.get("src") or ""
    src = links.picture(written.strip()) or links.picture(written)
    if not src:
        return ""
    return f'{check.open_tag("img", attributes, _CHECKS, links)} src="{escape_value(src)}" loading="lazy">'


def stands_in(tag: str, attributes: Attributes) -> bool:
    """Whether a picture is only shown until another one loads. tag: what `image` made of the attributes."""
    return " srcset=" not in tag and is_placeholder(lazy_source(attributes))


def source(attributes: Attributes, links: Links) -> str:
    """The whole `source` element of a picture or a player; "" when it names nothing to load."""
    return _with_sources("source", attributes, links.media, links, _SOURCE_CHECKS, "")


def is_placeholder(src: str) -> bool:
    """Whether an address looks like the picture that stands in until the real one loads."""
    if not src or src[:5].lower() == "data:":
        return True
    path = f"/{src}"
    return _STAND_IN.search(path) is not None and _is_file_of_stand_in(path)


def _is_file_of_stand_in(path: str) -> bool:
    files = _PICTURE_FILE.finditer(path)
    return any(_STAND_IN.search(path, max(file.start() - 1, 0), file.end()) for file in files)


def lazy_source(attributes: Attributes) -> str:
    """The address an element means: its `src`, or what a script would have put there."""
    src = (attributes.get("src") or "").strip()
    if not _ANY_LAZY_SRC.isdisjoint(attributes) and (is_placeholder(src) or _is_lazy(attributes)):
        return _first(attributes, LAZY_SRC) or src
    return src


def _with_sources(
    name: str,
    attributes: Attributes,
    clean: Callable[[str], str],
    links: Links,
    checks: dict[str, Check],
    added: str,
) -> str:
    src = clean(lazy_source(attributes)) or clean(attributes.get("src") or "")
    srcset = _lazy_srcset(attributes)
    if srcset:
        srcset = clean_srcset(srcset, links.media)
    if not src and not srcset:
        return ""
    written = check.open_tag(name, attributes, checks, links)
    if src:
        written += f' src="{escape_value(src)}"'
    if srcset:
        written += f' srcset="{escape_value(srcset)}"'
    return written + added + ">"


def _lazy_srcset(attributes: Attributes) -> str:
    srcset = attributes.get("srcset") or ""
    if not _ANY_LAZY_SRCSET.isdisjoint(attributes) and (is_placeholder(srcset) or _is_lazy(attributes)):
        return _first(attributes, LAZY_SRCSET) or srcset
    return srcset


def _is_lazy(attributes: Attributes) -> bool:
    classes = attributes.get("class")
    return classes is not None and "lazy" in classes.lower()


def _first(attributes: Attributes, names: tuple[str, ...]) -> str:
    """Scripts keep other things under these names as well: colours, JSON, numbers."""
    for name in names:
        value = attributes.get(name)
        if value is None:
            continue
        value = value.strip()
        if value and not value.startswith(("{", "[")) and ("/" in value or "." in value) and "<" not in value:
            return value if not value.startswith("data:") or picture_data(value) else ""
    return ""


def _is_invisible(attributes: Attributes) -> bool:
    """A picture of a pixel counts readers; it shows nothing."""
    width, height = attributes.get("width"), attributes.get("height")
    if width and height:
        return _is_pixel(width, height)
    style = attributes.get("style")
    return bool(style and _INVISIBLE_WIDTH.search(style) and _INVISIBLE_HEIGHT.search(style))


def _is_pixel(width: str, height: str) -> bool:
    return _INVISIBLE.fullmatch(width) is not None and _INVISIBLE.fullmatch(height) is not None
