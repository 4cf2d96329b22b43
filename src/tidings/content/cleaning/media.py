"""Links and elements that load resources: images, players and frames.

Lazy images get their final URL, invisible ones are left out, smileys stay as small as text. A smiley is a picture that
stands for one character, which publishers' style sheets make as high as a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborNode

from tidings.content.cleaning import attribute_checks, controls, drawings, formulas, frames
from tidings.content.cleaning.attribute_checks import (
    HIDING_ATTRIBUTES,
    AttributeCheck,
    Attributes,
    LinkCleaner,
    escape_value,
    image_data_url,
    open_tag,
)
from tidings.content.cleaning.elements import COMMON_ATTRIBUTES, LINK, PICTURE, TABLE_STRUCTURE, tag_ids
from tidings.content.cleaning.writer import CleanHtmlWriter, ElementHandler
from tidings.content.urls import host_of

# The attribute `srcset`, by the rules of browsers

_WHITESPACE = " \t\n\r\f"
_URL = re.compile(r"[ \t\n\r\f,]*+([^ \t\n\r\f]++)")
# Descriptors end at a comma outside parentheses.
_DESCRIPTORS = re.compile(r"((?:[^,(]|\([^)]*+\)?)*+)(?:,|$)")
_WIDTH = re.compile(r"[1-9][0-9]{0,5}w")
_MODERATE_WIDTH_PX = 1_600
_DENSITY = re.compile(r"(?:[0-9]{1,4}(?:\.[0-9]{1,8})?|\.[0-9]{1,8})x")


def clean_srcset(value: str, clean_url: Callable[[str], str]) -> str:
    """Return the usable candidates in a uniform notation; "" if there is none.

    clean_url: returns the absolute URL, or "" to leave the candidate out.
    Source: HTML Standard, section 4.8.4.3.10 (parsing a srcset attribute).
    """
    kept: list[str] = []
    for url, descriptor in candidates(value):
        clean = clean_url(url) if _is_descriptor(descriptor) else ""
        if clean:
            # A comma at either end of a URL would be parsed as the end of the candidate.
            clean = "%2C" + clean[1:] if clean.startswith(",") else clean
            clean = clean[:-1] + "%2C" if clean.endswith(",") else clean
            kept.append(f"{clean} {descriptor}" if descriptor else clean)
    return ", ".join(kept)


def main_candidate(srcset: str) -> str:
    """Return the URL for readers that know no candidates: the widest one of moderate size, else the first.

    srcset: as `clean_srcset` writes it.
    """
    found = candidates(srcset)
    widths = sorted((int(each[:-1]), url) for url, each in found if _WIDTH.fullmatch(each))
    if widths:
        return max((each for each in widths if each[0] <= _MODERATE_WIDTH_PX), default=widths[0])[1]
    return next((url for url, each in found if each in ("", "1x")), found[0][0] if found else "")


def candidates(value: str) -> list[tuple[str, str]]:
    """Return URLs with their descriptors, as written and unchecked."""
    parsed: list[tuple[str, str]] = []
    position = 0
    while (match := _URL.match(value, position)) is not None:
        url, position = match[1], match.end()
        descriptor = ""
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            rest = _DESCRIPTORS.match(value, position)
            if rest is None:
                break
            descriptor, position = rest[1].strip(_WHITESPACE), rest.end()
        parsed.append((url, descriptor))
    return parsed


def _is_descriptor(text: str) -> bool:
    return not text or _WIDTH.fullmatch(text) is not None or _DENSITY.fullmatch(text) is not None


# Smileys

_CLASS: Final = re.compile(
    r"(?:^|\s)(?:wp-smiley|(?:g-|tw)?emoji|emojione|joypixels|emoticon|smil(?:ey|ie)s?)(?=\s|$)", re.IGNORECASE
)
# At most one and a half lines high.
_LINE_HIGH: Final = re.compile(
    r"(?:^|;)\s*+(?:max-)?height\s*+:\s*+(?:0?\.[1-9][0-9]?|1(?:\.[0-5][0-9]?)?)r?em\s*+(?:!important\s*+)?(?:;|$)",
    re.IGNORECASE,
)
_EMOJI: Final = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
# Digits of keycaps, joiners, variation selectors, skin tones and tags of flags.
_EMOJI_PART: Final = re.compile("[0-9#*\u200d\u20e3\ufe0e\ufe0f\U000e0020-\U000e007f]")
_MAX_EMOJI_CHARS: Final = 24
_SMALL: Final = re.compile(r"[1-9]|[12][0-9]|3[0-2]")
_SIDE_PX: Final = "20"


def is_smiley(attributes: Attributes) -> bool:
    """Return whether an image is shown at the height of a line on the publisher's page."""
    classes = attributes.get("class")
    if classes and _CLASS.search(classes):
        return True
    style = attributes.get("style")
    return bool(style) and _LINE_HIGH.search(style or "") is not None


def emoji_of(attributes: Attributes) -> str:
    """Return the characters that the image stands for, "" if its alternative text is not an emoji."""
    text = (attributes.get("alt") or "").strip()
    if not text or len(text) > _MAX_EMOJI_CHARS:
        return ""
    rest = _EMOJI.sub("", text)
    if rest == text and "\u20e3" not in text:
        return ""
    return text if not _EMOJI_PART.sub("", rest) else ""


def with_small_size(attributes: Attributes) -> Attributes:
    """Return the attributes with the size of a character. The image's own size stays if it is as small."""
    sides = [(attributes.get(name) or "").strip() for name in ("width", "height")]
    if any(sides) and all(not side or _SMALL.fullmatch(side) for side in sides):
        return attributes
    return {**attributes, "width": _SIDE_PX, "height": _SIDE_PX}


# Images

# Attributes in which scripts for lazy loading keep the URL, the most common first.
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
# As sets, because most images have none of them.
_ANY_LAZY_SRC, _ANY_LAZY_SRCSET = frozenset(LAZY_SRC), frozenset(LAZY_SRCSET)
# Without these an image is neither hidden nor lazy and has at most one URL: `plain_image_tag` handles it.
SPECIAL_ATTRIBUTES = attribute_checks.HIDING_ATTRIBUTES | _ANY_LAZY_SRC | _ANY_LAZY_SRCSET | {"srcset"}

# An image file with the name of a placeholder. Two expressions, each linear in the length of the URL: a single one
# would read the rest of the URL again at every match. Most images need only the first.
_PLACEHOLDER_NAME = re.compile(
    r"[/_.-](?=[1beglpst])(?:blank|spacer|pixel|placeholder|transparent|lazy(?:[-_]?load(?:er|ing)?)?|loading|1x1|empty"
    r"|grey|gray)(?=[_.-])",
    re.IGNORECASE,
)
_IMAGE_FILE = re.compile(
    r"(?<![\w.-])[\w.-]++(?:(?<=\.gif|\.png|\.svg|\.jpg)|(?<=\.jpeg|\.webp))(?=[?#]|$)", re.IGNORECASE
)
_SIZE = re.compile(r"[1-9][0-9]{0,5}")
_INVISIBLE = re.compile(r"\s*0*[01](?:px)?\s*", re.IGNORECASE)
_INVISIBLE_WIDTH = re.compile(r"(?:^|;)\s*width\s*:\s*[01](?:px)?\s*(?:!important\s*)?(?:;|$)", re.IGNORECASE)
_INVISIBLE_HEIGHT = re.compile(r"(?:^|;)\s*height\s*:\s*[01](?:px)?\s*(?:!important\s*)?(?:;|$)", re.IGNORECASE)

_MINIMAL_SIZE = re.compile(r"(?:^|[;\s])min-(?:width|height)\s*:\s*0*[1-9]", re.IGNORECASE)
_CHECKS: dict[str, AttributeCheck] = {
    "alt": lambda value, _: value,
    "title": attribute_checks.text,
    "sizes": attribute_checks.text,
    "width": attribute_checks.matching(_SIZE),
    "height": attribute_checks.matching(_SIZE),
    "fetchpriority": attribute_checks.one_of("high", "low", "auto"),
    "decoding": attribute_checks.one_of("sync", "async", "auto"),
    "dir": attribute_checks.direction,
    "lang": attribute_checks.language,
}
_KEPT_OF_IMAGE = ("alt", "title", "dir", "lang", "width", "height")
_SOURCE_CHECKS: dict[str, AttributeCheck] = {
    "type": attribute_checks.text,
    "media": attribute_checks.text,
    "sizes": attribute_checks.text,
    "width": attribute_checks.matching(_SIZE),
    "height": attribute_checks.matching(_SIZE),
}


def image_tag(attributes: Attributes, links: LinkCleaner) -> str:
    """Return the whole `img` element; "" if it would show nothing."""
    if is_invisible(attributes):
        return ""
    return _write_with_sources("img", attributes, links.image_url, links, _CHECKS, ' loading="lazy"')


def plain_image_tag(attributes: Attributes, links: LinkCleaner) -> str:
    """Return the same as `image_tag`, faster, for attributes without any of `SPECIAL_ATTRIBUTES`."""
    width, height = attributes.get("width"), attributes.get("height")
    if width and height and _is_pixel(width, height):
        return ""
    written = attributes.get("src") or ""
    src = links.image_url(written.strip()) or links.image_url(written)
    if not src:
        return ""
    return f'{attribute_checks.open_tag("img", attributes, _CHECKS, links)} src="{escape_value(src)}" loading="lazy">'


def is_placeholder_tag(tag: str, attributes: Attributes) -> bool:
    """Return whether an image is only shown until another one loads. tag: result of `image_tag` for the attributes."""
    return " srcset=" not in tag and is_placeholder(lazy_source(attributes))


def source_tag(attributes: Attributes, links: LinkCleaner) -> str:
    """Return the whole `source` element of a picture or player; "" if it has no URL to load."""
    return _write_with_sources("source", attributes, links.media_url, links, _SOURCE_CHECKS, "")


def needs_source(attributes: Attributes) -> bool:
    """Return whether the `img` of a `picture` shows nothing of its own, so that its sources name the picture."""
    return is_placeholder(lazy_source(attributes)) and not _lazy_srcset(attributes).strip()


def picture_tag(sources: Sequence[Attributes], image: Attributes, links: LinkCleaner) -> str:
    """Return the whole `img` element for a `picture` whose sources alone name it; "" if they name none.

    The last source is in the format that most readers know; one for a certain screen is the second choice.
    image: the attributes of its `img`.
    """
    by_choice = [source for source in reversed(sources) if not source.get("media")] or sources
    for source in by_choice:
        srcset = clean_srcset(_lazy_srcset(source) or lazy_source(source), links.media_url)
        if srcset:
            added = {"src": main_candidate(srcset), "srcset": srcset, "sizes": source.get("sizes")}
            names = _KEPT_OF_IMAGE[:-2] if is_invisible(image) else _KEPT_OF_IMAGE
            kept = {name: image[name] for name in names if name in image}
            return _write_with_sources("img", {**kept, **added}, links.image_url, links, _CHECKS, ' loading="lazy"')
    return ""


def is_placeholder(src: str) -> bool:
    """Return whether a URL looks like a placeholder shown until the real image loads."""
    if not src or src[:5].lower() == "data:":
        return True
    path = f"/{src}"
    return _PLACEHOLDER_NAME.search(path) is not None and _is_placeholder_file(path)


def _is_placeholder_file(path: str) -> bool:
    files = _IMAGE_FILE.finditer(path)
    return any(_PLACEHOLDER_NAME.search(path, max(file.start() - 1, 0), file.end()) for file in files)


def lazy_source(attributes: Attributes) -> str:
    """Return the URL that an element is meant to load: its `src`, or the one that a script would set."""
    src = (attributes.get("src") or "").strip()
    if not _ANY_LAZY_SRC.isdisjoint(attributes) and (is_placeholder(src) or _has_lazy_class(attributes)):
        return _first_url(attributes, LAZY_SRC) or src
    return src


def _write_with_sources(
    name: str,
    attributes: Attributes,
    clean: Callable[[str], str],
    links: LinkCleaner,
    checks: dict[str, AttributeCheck],
    added: str,
) -> str:
    src = clean(lazy_source(attributes)) or clean(attributes.get("src") or "")
    srcset = _lazy_srcset(attributes)
    if srcset:
        srcset = clean_srcset(srcset, links.media_url)
    if not src and not srcset:
        return ""
    written = attribute_checks.open_tag(name, attributes, checks, links)
    if src:
        written += f' src="{escape_value(src)}"'
    if srcset:
        written += f' srcset="{escape_value(srcset)}"'
    return written + added + ">"


def _lazy_srcset(attributes: Attributes) -> str:
    srcset = attributes.get("srcset") or ""
    if not _ANY_LAZY_SRCSET.isdisjoint(attributes) and (is_placeholder(srcset) or _has_lazy_class(attributes)):
        return _first_url(attributes, LAZY_SRCSET) or srcset
    return srcset


def _has_lazy_class(attributes: Attributes) -> bool:
    classes = attributes.get("class")
    return classes is not None and "lazy" in classes.lower()


def _first_url(attributes: Attributes, names: tuple[str, ...]) -> str:
    """Return the first value that is a URL. Scripts use these attributes for colours, JSON and numbers as well."""
    for name in names:
        value = attributes.get(name)
        if value is None:
            continue
        value = value.strip()
        if value and not value.startswith(("{", "[")) and ("/" in value or "." in value) and "<" not in value:
            return value if not value.startswith("data:") or image_data_url(value) else ""
    return ""


def is_invisible(attributes: Attributes) -> bool:
    """Return whether an image is at most one pixel large, as tracking pixels are.

    An image with a minimal size is shown in that size: some frameworks write `width:0;height:0;min-width:100%`.
    """
    width, height = attributes.get("width"), attributes.get("height")
    if width and height:
        return _is_pixel(width, height)
    style = attributes.get("style")
    if not style or _MINIMAL_SIZE.search(style):
        return False
    return bool(_INVISIBLE_WIDTH.search(style) and _INVISIBLE_HEIGHT.search(style))


def _is_pixel(width: str, height: str) -> bool:
    return _INVISIBLE.fullmatch(width) is not None and _INVISIBLE.fullmatch(height) is not None


_VIDEO_CHECKS: Mapping[str, AttributeCheck] = {
    "width": attribute_checks.length,
    "height": attribute_checks.length,
    **COMMON_ATTRIBUTES,
}
# Sources of a picture that are read for its address.
_MAX_SOURCES: Final = 50
_RELEVANT_LINK_ATTRIBUTES = frozenset({"name"}) | HIDING_ATTRIBUTES.union(LINK.checks)

# The end of the start tag of an external link.
_IN_SAME_TAB = ' rel="noopener noreferrer" referrerpolicy="no-referrer">'
_IN_NEW_TAB = ' rel="noopener noreferrer" referrerpolicy="no-referrer" target="_blank">'


def _handle_link(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
    attributes = node.attributes
    tag, style, id_ = "<a", None, None
    if not _RELEVANT_LINK_ATTRIBUTES.isdisjoint(attributes):
        if writer.hides(attributes):
            return None
        tag = open_tag("a", attributes, LINK.checks, writer.links)
        style, id_ = attributes.get("style"), attributes.get("id") or attributes.get("name")
    url = writer.links.link_url((attributes.get("href") or "").strip())
    # The parser leaves a link inside a link only with a table in between; it cannot be followed.
    if not url or "a" in writer.open_elements:
        if controls.is_control(node, attributes, writer.open_elements):
            return None
        writer.add_id_of_left_out(id_)
        return writer.start_style(node, style, "") if style else ""
    close = writer.plain(LINK, f'{tag} href="{escape_value(url)}"{_link_end(writer, url)}')
    if "#" in url:
        _add_jump(writer, url, tag)
    if id_:
        writer.add_id(id_, is_kept=bool(attributes.get("id")))
    return writer.start_style(node, style, close) if style else close


def _add_jump(writer: CleanHtmlWriter, url: str, tag: str) -> None:
    """Records the link that was just written, if it leads to a place in the article."""
    if url.startswith("#"):
        writer.add_jump(url)
    elif fragment := writer.links.own_fragment(url):
        jump = writer.links.link_url(f"#{fragment}")
        writer.add_jump(jump, f'{tag} href="{escape_value(jump)}">')


def _link_end(writer: CleanHtmlWriter, url: str) -> str:
    """Return the end of the start tag of a link."""
    if url.startswith("#"):
        return ">"
    return _IN_NEW_TAB if writer.policy.new_tab else _IN_SAME_TAB


def _handle_image(writer: CleanHtmlWriter, node: LexborNode) -> None:
    attributes: Mapping[str, str | None] = node.attributes
    if ("class" in attributes or "style" in attributes) and is_smiley(attributes):
        if emoji := "" if writer.hides(attributes) else emoji_of(attributes):
            writer.text(emoji)
            return
        attributes = with_small_size(attributes)
    if SPECIAL_ATTRIBUTES.isdisjoint(attributes):
        tag = plain_image_tag(attributes, writer.links)
    else:
        tag = "" if writer.hides(attributes) else image_tag(attributes, writer.links)
    if tag:
        writer.image(tag, attributes)


def _handle_picture(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
    """Handles a `picture`. If only its sources name a picture, it becomes one image, which every reader shows."""
    attributes = node.attributes
    if writer.hides(attributes):
        return None
    inner = node.css_first("img")
    image: Attributes = {} if inner is None else inner.attributes
    if inner is None or needs_source(image):
        tag = picture_tag(list(islice(_sources(node), _MAX_SOURCES)), image, writer.links)
        if tag:
            writer.image(tag, image)
            return None
    return writer.plain(PICTURE, open_tag("picture", attributes, COMMON_ATTRIBUTES, writer.links) + ">")


def _sources(picture: LexborNode) -> Iterator[Attributes]:
    child = picture.first_child
    while child is not None:
        if child.tag == "source":
            yield child.attributes
        child = child.next


def _handle_noscript(writer: CleanHtmlWriter, node: LexborNode) -> None:
    """Writes the image inside `noscript`, the fallback of an image that scripts load.

    It is left out if the image before it shows the same without scripts.
    """
    inner = node.css_first("img")
    if inner is None:
        return
    attributes = inner.attributes
    tag = "" if writer.hides(attributes) else image_tag(attributes, writer.links)
    if not tag:
        return
    before = writer.image_before()
    if before is None:
        writer.image(tag, attributes)
    elif is_placeholder_tag(*before):
        writer.replace_last_image(tag, attributes)


def _handle_source(writer: CleanHtmlWriter, node: LexborNode) -> None:
    tag = source_tag(node.attributes, writer.links)
    if tag:
        writer.void(tag)


def _handle_frame(writer: CleanHtmlWriter, node: LexborNode) -> None:
    attributes = node.attributes
    if writer.hides(attributes):
        return
    source = lazy_source(attributes)
    _write_frame(writer, source, attributes)


def _write_frame(writer: CleanHtmlWriter, source: str, attributes: Attributes) -> None:
    """Writes a frame, or a link to it if its host is not allowed."""
    frame = frames.iframe_html(attributes, source, writer.links, writer.policy)
    if frame:
        writer.void_inline(frame)
    elif not is_invisible(attributes):
        _write_link(writer, source, attributes)


def _write_link(writer: CleanHtmlWriter, source: str, attributes: Attributes) -> None:
    """Writes a link to what cannot be shown here, with its title or its host as text; in a link the title alone."""
    url = writer.links.media_url(source) if source else ""
    host = host_of(url).removeprefix("www.")
    if not host or host == writer.policy.own_host.removeprefix("www."):
        return
    title = " ".join((attributes.get("title") or attributes.get("aria-label") or "").split())
    if "a" in writer.open_elements:
        if title:
            writer.text(title)
        return
    writer.inline_link(f'<a href="{escape_value(url)}"{_link_end(writer, url)}', title or host)


def _handle_object(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
    """Writes what an `object` shows; otherwise its content, which is made for that; without content a link."""
    attributes = node.attributes
    if writer.hides(attributes):
        return None
    source = frames.source_of(node)
    shown = frames.element_html(source, attributes, writer.links, writer.policy) if source else ""
    if shown:
        writer.void_inline(shown)
        return None
    if not _has_content(node):
        _write_link(writer, source, attributes)
    writer.needs_second_pass |= "p" in writer.open_elements
    return ""


def _has_content(node: LexborNode) -> bool:
    inside = node.css("a, audio, embed, iframe, img, object, svg, video")
    return any(child != node for child in inside) or bool(node.text().strip())


def _handle_embed(writer: CleanHtmlWriter, node: LexborNode) -> None:
    attributes = node.attributes
    source = frames.source_of(node)
    if not source or writer.hides(attributes) or is_invisible(attributes):
        return
    shown = frames.element_html(source, attributes, writer.links, writer.policy)
    if shown:
        writer.void_inline(shown)
    else:
        _write_link(writer, source, attributes)


def _handle_svg(writer: CleanHtmlWriter, node: LexborNode) -> None:
    """Writes a drawing as an image, or its title."""
    if writer.hides(node.attributes) or formulas.is_copy(node, node.attributes):
        return
    drawing = drawings.read_drawing(node)
    if drawing.url:
        size = {"alt": drawing.text, "src": drawing.url, "width": drawing.width, "height": drawing.height}
        writer.void_inline(plain_image_tag(size, writer.links))
    elif drawing.text:
        writer.text(drawing.text)


def _handle_script(writer: CleanHtmlWriter, node: LexborNode) -> None:
    """Writes the source of a formula, which MathJax keeps in a script. Any other script is left out."""
    kind = (node.attributes.get("type") or "").lower()
    above = writer.open_elements
    if not kind.startswith(formulas.SCRIPT_TYPES) or (above and above[-1] in TABLE_STRUCTURE):
        return
    source = formulas.source_in_script(node.text())
    if not source:
        return
    is_display = "mode=display" in kind
    if is_display:
        writer.start_line()
    writer.inline_code(source)
    if is_display:
        writer.end_line()


def handle_amp(writer: CleanHtmlWriter, node: LexborNode, name: str) -> str | None:
    """Handles an element of an AMP page like the one of HTML that it stands for; unknown ones keep their content."""
    if name in ("amp-img", "amp-anim"):
        _handle_image(writer, node)
        return ""
    if name == "amp-audio":
        return _handle_audio(writer, node)
    if name == "amp-video":
        return _handle_video(writer, node)
    if name == "amp-iframe":
        _handle_frame(writer, node)
        return None
    source = frames.amp_player_url(name, node.attributes)
    if not source:
        return ""
    _write_frame(writer, source, node.attributes)
    return None


def _handle_audio(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
    return _write_player(writer, "audio", node.attributes, COMMON_ATTRIBUTES)


def _handle_video(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
    return _write_player(writer, "video", node.attributes, _VIDEO_CHECKS)


def _write_player(
    writer: CleanHtmlWriter, name: str, attributes: Attributes, checks: Mapping[str, AttributeCheck]
) -> str | None:
    if writer.hides(attributes):
        return None
    tag = open_tag(name, attributes, checks, writer.links)
    for key, value in _player_urls(name, attributes):
        url = writer.links.media_url(value)
        if url:
            tag += f' {key}="{escape_value(url)}"'
    return writer.start_inline(name, tag + ' controls="">')


def _player_urls(name: str, attributes: Attributes) -> Iterator[tuple[str, str]]:
    yield "src", lazy_source(attributes)
    if name == "video":
        yield "poster", attributes.get("poster") or ""


_BY_NAME: Mapping[str, ElementHandler] = {
    "a": _handle_link,
    "audio": _handle_audio,
    "embed": _handle_embed,
    "iframe": _handle_frame,
    "img": _handle_image,
    "noscript": _handle_noscript,
    "object": _handle_object,
    "picture": _handle_picture,
    "script": _handle_script,
    "source": _handle_source,
    "svg": _handle_svg,
    "video": _handle_video,
}


def _with_id(handle: ElementHandler) -> ElementHandler:
    """Return a handler that also keeps the place of the element's id, if a link names it."""

    def write(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
        if (id_ := node.id) and not writer.hides(node.attributes):
            writer.add_id_of_left_out(id_)
        return handle(writer, node)

    return write


_WITHOUT_ID: Final = frozenset({"a", "noscript", "script", "source"})
MEDIA_HANDLERS: Final[Mapping[int, ElementHandler]] = {
    number: _BY_NAME[name] if name in _WITHOUT_ID else _with_id(_BY_NAME[name])
    for number, name in tag_ids(_BY_NAME).items()
}
