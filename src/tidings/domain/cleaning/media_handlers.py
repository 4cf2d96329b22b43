"""Handlers of links and of elements that load resources: images, players, frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from selectolax.lexbor import LexborNode

from tidings.domain.cleaning import attributes as check
from tidings.domain.cleaning import frames, images
from tidings.domain.cleaning.attributes import HIDING_ATTRIBUTES, AttributeCheck, Attributes, escape_value, open_tag
from tidings.domain.cleaning.elements import COMMON_ATTRIBUTES, LINK, tag_ids
from tidings.domain.cleaning.writer import CleanHtmlWriter, ElementHandler

_VIDEO_CHECKS: Mapping[str, AttributeCheck] = {"width": check.length, "height": check.length, **COMMON_ATTRIBUTES}
_RELEVANT_LINK_ATTRIBUTES = HIDING_ATTRIBUTES.union(LINK.checks)

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
    address = writer.links.link_url((attributes.get("href") or "").strip())
    # The parser leaves a link inside a link only with a table in between; it cannot be followed.
    if not address or "a" in writer.open_elements:
        return ""
    end = ">"
    if not address.startswith("#"):
        end = _IN_NEW_TAB if writer.policy.new_tab else _IN_SAME_TAB
    return writer.plain(LINK, f'{tag} href="{escape_value(address)}"{end}')


def _handle_image(writer: CleanHtmlWriter, node: LexborNode) -> None:
    attributes = node.attributes
    if images.SPECIAL_ATTRIBUTES.isdisjoint(attributes):
        tag = images.plain_image_tag(attributes, writer.links)
    else:
        tag = "" if writer.hides(attributes) else images.image_tag(attributes, writer.links)
    if tag:
        writer.image(tag, attributes)


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
    frame = frames.iframe_html(attributes, images.lazy_source(attributes), writer.links, writer.policy)
    if frame:
        writer.void_inline(frame)


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
        address = writer.links.media_url(value)
        if address:
            tag += f' {key}="{escape_value(address)}"'
    return writer.start_inline(name, tag + ' controls="">')


def _player_urls(name: str, attributes: Attributes) -> Iterator[tuple[str, str]]:
    yield "src", images.lazy_source(attributes)
    if name == "video":
        yield "poster", attributes.get("poster") or ""


_BY_NAME: Mapping[str, ElementHandler] = {
    "a": _handle_link,
    "audio": _handle_audio,
    "iframe": _handle_frame,
    "img": _handle_image,
    "noscript": _handle_noscript,
    "source": _handle_source,
    "video": _handle_video,
}
MEDIA_HANDLERS: Final[Mapping[int, ElementHandler]] = {
    number: _BY_NAME[name] for number, name in tag_ids(_BY_NAME).items()
}
