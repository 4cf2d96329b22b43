"""Handlers of links and of elements that load resources: images, players, frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborNode

from tidings.content.cleaning import attribute_checks, controls, drawings, formulas, frames, images
from tidings.content.cleaning.attribute_checks import (
    HIDING_ATTRIBUTES,
    AttributeCheck,
    Attributes,
    escape_value,
    open_tag,
)
from tidings.content.cleaning.elements import COMMON_ATTRIBUTES, LINK, PICTURE, TABLE_STRUCTURE, tag_ids
from tidings.content.cleaning.writer import CleanHtmlWriter, ElementHandler
from tidings.content.urls import host_of

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
    tag = "<a"
    if not _RELEVANT_LINK_ATTRIBUTES.isdisjoint(attributes):
        if writer.hides(attributes):
            return None
        tag = open_tag("a", attributes, LINK.checks, writer.links)
    id_ = attributes.get("id") or attributes.get("name")
    style = attributes.get("style")
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
    if ("class" in attributes or "style" in attributes) and images.is_smiley(attributes):
        if emoji := "" if writer.hides(attributes) else images.emoji_of(attributes):
            writer.text(emoji)
            return
        attributes = images.with_small_size(attributes)
    if images.SPECIAL_ATTRIBUTES.isdisjoint(attributes):
        tag = images.plain_image_tag(attributes, writer.links)
    else:
        tag = "" if writer.hides(attributes) else images.image_tag(attributes, writer.links)
    if tag:
        writer.image(tag, attributes)


def _handle_picture(writer: CleanHtmlWriter, node: LexborNode) -> str | None:
    """Handles a `picture`. If only its sources name a picture, it becomes one image, which every reader shows."""
    attributes = node.attributes
    if writer.hides(attributes):
        return None
    inner = node.css_first("img")
    image: Attributes = {} if inner is None else inner.attributes
    if inner is None or images.needs_source(image):
        tag = images.picture_tag(list(islice(_sources(node), _MAX_SOURCES)), image, writer.links)
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
    """Writes the image inside `noscript`, the fallback of an image that scripts load."""
    inner = node.css_first("img")
    if inner is None:
        return
    attributes = inner.attributes
    tag = "" if writer.hides(attributes) else images.image_tag(attributes, writer.links)
    if tag:
        writer.fallback_image(tag, attributes)


def _handle_source(writer: CleanHtmlWriter, node: LexborNode) -> None:
    tag = images.source_tag(node.attributes, writer.links)
    if tag:
        writer.void(tag)


def _handle_frame(writer: CleanHtmlWriter, node: LexborNode) -> None:
    attributes = node.attributes
    if writer.hides(attributes):
        return
    source = images.lazy_source(attributes)
    _write_frame(writer, source, attributes)


def _write_frame(writer: CleanHtmlWriter, source: str, attributes: Attributes) -> None:
    """Writes a frame, or a link to it if its host is not allowed."""
    frame = frames.iframe_html(attributes, source, writer.links, writer.policy)
    if frame:
        writer.void_inline(frame)
    elif not images.is_invisible(attributes):
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
    if not source or writer.hides(attributes) or images.is_invisible(attributes):
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
        writer.void_inline(images.plain_image_tag(size, writer.links))
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
    yield "src", images.lazy_source(attributes)
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
        if (id_ := node.attributes.get("id")) and not writer.hides(node.attributes):
            writer.add_id_of_left_out(id_)
        return handle(writer, node)

    return write


_WITHOUT_ID: Final = frozenset({"a", "noscript", "script", "source"})
MEDIA_HANDLERS: Final[Mapping[int, ElementHandler]] = {
    number: _BY_NAME[name] if name in _WITHOUT_ID else _with_id(_BY_NAME[name])
    for number, name in tag_ids(_BY_NAME).items()
}
