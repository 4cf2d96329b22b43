"""Pictures and players that got lost when an article was cut out of its page.

Readability judges by words, and pictures have none. So every element of the page gets a number before; afterwards the
pictures that are missing between the words that were kept, and the one that leads in to them, go back where they were.
"""

from __future__ import annotations

import copy
import re
from bisect import bisect
from collections.abc import Iterator
from typing import Final

from lxml.html import HtmlElement

from tidings.domain.cleaning.images import LAZY_SRC

_NUMBER: Final = "data-tidings-number"

_MEDIA: Final = ("img", "video", "audio", "iframe")
_WORDS: Final = frozenset({"p", "pre", "li", "blockquote", "h2", "h3", "h4", "h5", "h6", "td", "dd", "dt"})
# Shorter texts (characters) say little about where an article begins and ends.
_ENOUGH_WORDS: Final = 25
_LONGEST_CAPTION: Final = 800
# What holds an article and its first picture may have so many times the words of the article.
_LITTLE_MORE: Final = 1.5

# Pixels. Pictures that say themselves that they are smaller decorate; larger ones do not, whatever they are called.
_SMALL: Final = 60
_LARGE: Final = 150
_MANY: Final = 300

_ASIDE: Final = frozenset({"nav", "aside", "footer", "form", "button", "noscript"})
# Their classes speak of what is drawn over the picture.
_FRAMES: Final = frozenset({"figure", "picture"})
_UNWANTED: Final = re.compile(
    r"related|recommend|promo|share|sharing|social|sidebar|comment|author|avatar|byline|\bbio\b|newsletter|subscri"
    r"|sponsor|advert|\bads?\b|\bad-|logo|icon|outbrain|taboola|popular|trending|navbar|menu|footer|masthead|breadcrumb",
    re.IGNORECASE,
)
_DECORATION: Final = re.compile(
    r"(?:^|[/_.-])(?:logo|icons?|avatars?|spacer|blank|pixel|badge|buttons?|emoji|smil(?:ey|ies)|sprite|tracking|1x1)"
    r"(?:[/_.-]|$)|\.svg(?:[?#]|$)",
    re.IGNORECASE,
)
_PICTURE_FILE: Final = re.compile(r"\.(?:jpe?g|png|gif|webp|avif)(?:[?#]|$)", re.IGNORECASE)
_SOURCE: Final = re.compile(r"(?:data-.*)?(?:src|srcset|original|url)", re.IGNORECASE)


def show_what_scripts_would(page: HtmlElement) -> None:
    """Pictures for readers without scripts take the place of what scripts would replace."""
    for hidden in list(page.iter("noscript")):
        if hidden.find(".//img") is None or hidden.text_content().strip():
            continue
        placeholder = hidden.getprevious()
        if placeholder is not None and placeholder.tag == "img" and not (placeholder.tail or "").strip():
            placeholder.drop_tree()
        hidden.drop_tag()
    for picture in page.iter("img"):
        # What is shown until a script has run may be a small or blurred one.
        later = next((value for name in LAZY_SRC if _PICTURE_FILE.search(value := picture.get(name, ""))), "")
        if later:
            picture.set("src", later)


def number(page: HtmlElement) -> None:
    for position, element in enumerate(page.iter("*")):
        element.set(_NUMBER, str(position))


def forget_numbers(article: HtmlElement) -> None:
    for element in article.iter("*"):
        element.attrib.pop(_NUMBER, None)


def put_back(article: HtmlElement, page: HtmlElement) -> None:
    """article: cut out of a copy of the page, after that was numbered."""
    originals = {_number(element): element for element in page.iter("*")}
    kept = {n: element for element in article.iter("*") if (n := _number(element)) in originals}
    words = [n for n in sorted(kept) if originals[n].tag in _WORDS and _has_words(originals[n])]
    if not words:
        return
    positions = sorted(kept)
    shown = {address for element in article.iter(*_MEDIA) for address in _addresses(element)}
    for lost in _lost([originals[n] for n in words], kept):
        addresses = _addresses(lost)
        if not shown.isdisjoint(addresses):
            continue
        shown |= addresses
        following = bisect(positions, _number(lost))
        _insert(_unit(lost, kept), article, kept[positions[following]] if following < len(positions) else None)


def _lost(words: list[HtmlElement], kept: dict[int, HtmlElement]) -> Iterator[HtmlElement]:
    """words: elements of the page that were kept, in order."""
    first, last = _number(words[0]), _number(words[-1])
    inside = _common_ancestor(words)
    holders = {inside, *inside.iterancestors()}
    around = _article_around(inside)
    found = 0
    leads_in = False
    for element in around.iter(*_MEDIA):
        position = _number(element)
        if position in kept or not _is_wanted(element, holders):
            continue
        if first < position < last or inside in element.iterancestors():
            found += 1
            yield element
        elif position < first and not leads_in:
            leads_in = True
            yield element
        if found == _MANY:
            return


def _common_ancestor(elements: list[HtmlElement]) -> HtmlElement:
    common = list(reversed([*elements[0].iterancestors()]))
    for element in elements[1:]:
        line = reversed([*element.iterancestors()])
        common = [one for one, other in zip(common, line, strict=False) if one is other]
    return common[-1]


def _article_around(inside: HtmlElement) -> HtmlElement:
    """The element of the page that holds the article and what leads in to it, but few other words."""
    most = _LITTLE_MORE * len(inside.text_content()) + _LONGEST_CAPTION
    around = inside
    for element in inside.iterancestors():
        if element.tag in ("body", "html") or len(element.text_content()) > most:
            break
        around = element
    return around


def _is_wanted(element: HtmlElement, holders: set[HtmlElement]) -> bool:
    """holders: elements that hold all that was kept, so that they hold nothing unwanted, whatever they are called."""
    if _is_decoration(element) or _UNWANTED.search(_features(element)):
        return False
    for ancestor in element.iterancestors():
        if ancestor in holders:
            break
        if ancestor.tag in _ASIDE or (ancestor.tag not in _FRAMES and _UNWANTED.search(_features(ancestor))):
            return False
        if ancestor.tag == "a" and _is_teaser(ancestor):
            return False
    return True


def _is_decoration(element: HtmlElement) -> bool:
    addresses, (width, height) = _addresses(element), _size(element)
    if not addresses or min(width or _SMALL, height or _SMALL) < _SMALL:
        return True
    return max(width, height) < _LARGE and any(_DECORATION.search(address) for address in addresses)


def _is_teaser(link: HtmlElement) -> bool:
    """Whether it leads to another article, whose title stands in it or beside it."""
    href, box = link.get("href", ""), link.getparent()
    if _PICTURE_FILE.search(href):
        return False
    if link.text_content().strip():
        return True
    return box is not None and any(other is not link and other.get("href") == href for other in box.iter("a"))


def _size(element: HtmlElement) -> tuple[int, int]:
    """Width and height in pixels, as far as it tells; else 0."""
    sizes = (element.get(name, "").strip().removesuffix("px") for name in ("width", "height"))
    width, height = (int(size) if size.isascii() and size.isdigit() and len(size) < 6 else 0 for size in sizes)
    return width, height


def _addresses(element: HtmlElement) -> set[str]:
    """Where its picture or film is, whatever attribute tells."""
    found = set()
    for one in (element, *element.iter("source")):
        for name, value in one.attrib.items():
            first = value.split(None, 1)[:1]
            if first and _SOURCE.fullmatch(name) and not first[0].startswith(("data:", "about:")):
                found.add(first[0])
    return found


def _unit(element: HtmlElement, kept: dict[int, HtmlElement]) -> HtmlElement:
    """The figure or the choice of pictures that it belongs to, unless some of that was kept."""
    unit = element
    for ancestor in element.iterancestors():
        if any(_number(one) in kept for one in ancestor.iter("*")):
            break
        if ancestor.tag == "picture":
            unit = ancestor
        elif ancestor.tag == "figure" and len(ancestor.text_content()) < _LONGEST_CAPTION:
            return ancestor
    return unit


def _insert(unit: HtmlElement, article: HtmlElement, following: HtmlElement | None) -> None:
    """following: the first kept element that came after it on the page."""
    addition = copy.deepcopy(unit)
    addition.tail = None
    if following is None:
        article.append(addition)
        return
    position = _number(unit)
    while (parent := following.getparent()) is not None and _number(parent) > position:
        following = parent
    if following.getparent() is None:
        following.insert(0, addition)
    else:
        following.addprevious(addition)


def _has_words(element: HtmlElement) -> bool:
    return len(" ".join(element.text_content().split())) >= _ENOUGH_WORDS


def _features(element: HtmlElement) -> str:
    return f"{element.get('class', '')} {element.get('id', '')}"


def _number(element: HtmlElement) -> int:
    return int(element.get(_NUMBER, "-1"))
