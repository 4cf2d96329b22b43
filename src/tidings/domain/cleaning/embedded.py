"""Links, and what a page loads by itself: pictures, players, frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from selectolax.lexbor import LexborNode

from tidings.domain.cleaning import attributes as check
from tidings.domain.cleaning import frames, images
from tidings.domain.cleaning.attributes import HIDING, Attributes, Check, escape_value, open_tag
from tidings.domain.cleaning.elements import EVERYWHERE, LINK, numbers
from tidings.domain.cleaning.page import Mode, Page

_VIDEO_CHECKS: Mapping[str, Check] = {"width": check.length, "height": check.length, **EVERYWHERE}
_NOTED_OF_LINKS = HIDING.union(LINK.checks)

# How the tag of a link ends that leads away from the text.
_IN_SAME_TAB = ' rel="noopener noreferrer" referrerpolicy="no-referrer">'
_IN_NEW_TAB = ' rel="noopener noreferrer" referrerpolicy="no-referrer" target="_blank">'


def _link(page: Page, node: LexborNode) -> str | None:
    attributes = node.attributes
    tag = "<a"
    if not _NOTED_OF_LINKS.isdisjoint(attributes):
        if page.hides(attributes):
            return None
        tag = open_tag("a", attributes, LINK.checks, page.links)
    address = page.links.link((attributes.get("href") or "").strip())
    # Inside of another link only a parser with tables in between leaves one; nobody could follow it anyway.
    if not address or "a" in page.open:
        return ""
    end = ">"
    if not address.startswith("#"):
        end = _IN_NEW_TAB if page.policy.new_tab else _IN_SAME_TAB
    return page.plain(LINK, f'{tag} href="{escape_value(address)}"{end}')


def _image(page: Page, node: LexborNode) -> None:
    attributes = node.attributes
    if images.UNUSUAL.isdisjoint(attributes):
        tag = images.plain_image(attributes, page.links)
    else:
        tag = "" if page.hides(attributes) else images.image(attributes, page.links)
    if tag:
        page.picture(tag, attributes)


def _noscript(page: Page, node: LexborNode) -> None:
    """Where scripts load a picture, this often holds it for readers without scripts."""
    inner = node.css_first("img")
    if inner is None:
        return
    attributes = inner.attributes
    tag = "" if page.hides(attributes) else images.image(attributes, page.links)
    if tag:
        page.fallback_picture(tag, attributes)


def _source(page: Page, node: LexborNode) -> None:
    tag = images.source(node.attributes, page.links)
    if tag:
        page.void(tag)


def _frame(page: Page, node: LexborNode) -> None:
    attributes = node.attributes
    if page.hides(attributes):
        return
    frame = frames.frame(attributes, images.lazy_source(attributes), page.links, page.policy)
    if frame:
        page.void_inline(frame)


def _audio(page: Page, node: LexborNode) -> str | None:
    return _player(page, "audio", node.attributes, EVERYWHERE)


def _video(page: Page, node: LexborNode) -> str | None:
    return _player(page, "video", node.attributes, _VIDEO_CHECKS)


def _player(page: Page, name: str, attributes: Attributes, checks: Mapping[str, Check]) -> str | None:
    if page.hides(attributes):
        return None
    tag = open_tag(name, attributes, checks, page.links)
    for key, value in _player_addresses(name, attributes):
        address = page.links.media(value)
        if address:
            tag += f' {key}="{escape_value(address)}"'
    return page.start_inline(name, tag + ' controls="">')


def _player_addresses(name: str, attributes: Attributes) -> Iterator[tuple[str, str]]:
    yield "src", images.lazy_source(attributes)
    if name == "video":
        yield "poster", attributes.get("poster") or ""


_BY_NAME: Mapping[str, Mode] = {
    "a": _link,
    "audio": _audio,
    "iframe": _frame,
    "img": _image,
    "noscript": _noscript,
    "source": _source,
    "video": _video,
}
EMBEDDED: Final[Mapping[int, Mode]] = {number: _BY_NAME[name] for number, name in numbers(_BY_NAME).items()}
