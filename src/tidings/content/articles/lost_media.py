"""Restores images and players that were lost when an article was extracted from its page.

Readability scores text, and images have none. So each element of the page is numbered before extraction. Afterwards
the images missing between the kept paragraphs, and the image before the first paragraph, are put back in place.
"""

from __future__ import annotations

import copy
import re
from bisect import bisect
from collections.abc import Iterator
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from tidings.content.cleaning.media import LAZY_SRC

_NUMBER: Final = "data-tidings-number"

_MEDIA: Final = ("img", "video", "audio", "iframe")
_TEXT_ELEMENTS: Final = frozenset({"p", "pre", "li", "blockquote", "h2", "h3", "h4", "h5", "h6", "td", "dd", "dt"})
# Characters. Shorter texts do not show where an article begins and ends.
_MIN_TEXT_CHARS: Final = 25
_MAX_CAPTION_CHARS: Final = 800
# Maximum length of the element with the article and its first image, as a multiple of the article's text.
_MAX_TEXT_RATIO: Final = 1.5

# Images declared smaller than the minimum are decoration; images from the large size on are not.
_MIN_SIDE_PX: Final = 60
_LARGE_SIDE_PX: Final = 150
_MAX_RESTORED: Final = 300

_SIDE_ELEMENTS: Final = frozenset({"nav", "aside", "footer", "form", "button", "noscript"})
# The classes of these elements describe what is shown over the image, not the image.
_IMAGE_CONTAINERS: Final = frozenset({"figure", "picture"})
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
_IMAGE_FILE: Final = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg)(?:[?#]|$)", re.IGNORECASE)
_GALLERY: Final = re.compile(r"galler|galeri|slideshow|lightbox", re.IGNORECASE)
_SIZE_IN_NAME: Final = re.compile(r"-[0-9]{2,5}x[0-9]{2,5}(?=\.[a-z]+$)", re.IGNORECASE)
_SHARED: Final = etree.XPath(
    "//meta[@property='og:image' or @name='og:image' or @name='twitter:image' or @property='twitter:image']/@content",
    smart_strings=False,
)
_MAX_SHARED: Final = 10
_SOURCE: Final = re.compile(r"(?:data-.*)?(?:src|srcset|original|url)", re.IGNORECASE)


def resolve_lazy_images(page: HtmlElement) -> None:
    """Give images of scripts for lazy loading their final URL, and unwraps images in `noscript`."""
    for hidden in list(page.iter("noscript")):
        if hidden.find(".//img") is None or hidden.text_content().strip():
            continue
        placeholder = hidden.getprevious()
        if placeholder is not None and placeholder.tag == "img" and not (placeholder.tail or "").strip():
            placeholder.drop_tree()
        hidden.drop_tag()
    for picture in page.iter("img"):
        # The image shown before the script runs may be small or blurred.
        later = next((value for name in LAZY_SRC if _IMAGE_FILE.search(value := picture.get(name, ""))), "")
        if later:
            picture.set("src", later)


def number_elements(page: HtmlElement) -> None:
    """Numbers the elements of the page in document order, in an attribute."""
    for position, element in enumerate(page.iter("*")):
        element.set(_NUMBER, str(position))


def remove_numbers(article: HtmlElement) -> None:
    """Removes the numbers that `number_elements` set."""
    for element in article.iter("*"):
        element.attrib.pop(_NUMBER, None)


def restore_media(article: HtmlElement, page: HtmlElement) -> None:
    """Puts lost media back. article: extracted from a copy of the page, after the page was numbered."""
    _restore_between(article, page)
    _restore_shared(article, page)


def _restore_between(article: HtmlElement, page: HtmlElement) -> None:
    words = article_lines(article, page)
    if not words:
        return
    kept = {n: element for element in article.iter("*") if (n := element_number(element)) >= 0}
    positions = sorted(kept)
    shown = {url for element in article.iter(*_MEDIA) for url in _media_urls(element)}
    for lost in _lost_media(words, kept):
        urls = _media_urls(lost)
        if not shown.isdisjoint(urls):
            continue
        shown |= urls
        following = bisect(positions, element_number(lost))
        _insert_in_order(
            _enclosing_figure(lost, kept), article, kept[positions[following]] if following < len(positions) else None
        )


def _restore_shared(article: HtmlElement, page: HtmlElement) -> None:
    """Puts the picture that a page names for sharing in front of an article without pictures, if the page shows it.

    Nothing but its name shows that it belongs to the article: it may stand far above it.
    """
    if next(article.iter(*_MEDIA), None) is not None:
        return
    names = {name for url in _SHARED(page)[:_MAX_SHARED] if (name := _file_name(str(url)))}
    for image in page.iter("img") if names else ():
        if names.isdisjoint(_file_name(url) for url in _media_urls(image)) or not _is_wanted(image, set()):
            continue
        addition = copy.deepcopy(image)
        addition.tail = None
        article.insert(0, addition)
        return


def _file_name(url: str) -> str:
    """Return the name of an image's file, which has several sizes; "" if it has none."""
    name = url.partition("?")[0].partition("#")[0].rpartition("/")[2]
    return _SIZE_IN_NAME.sub("", name) if _IMAGE_FILE.search(name) else ""


def article_lines(article: HtmlElement, page: HtmlElement) -> list[HtmlElement]:
    """Return the elements of the page with text that the article keeps, in order.

    article: extracted from a copy of the page, after the page was numbered.
    """
    kept = {element_number(element) for element in article.iter("*")}
    return [
        element
        for element in page.iter(*_TEXT_ELEMENTS)
        if element_number(element) in kept and _has_enough_text(element)
    ]


def _lost_media(words: list[HtmlElement], kept: dict[int, HtmlElement]) -> Iterator[HtmlElement]:
    """Yield the media to restore. words: the text elements of the page that the article keeps, in order."""
    first, last = element_number(words[0]), element_number(words[-1])
    inside = _common_ancestor(words)
    holders = {inside, *inside.iterancestors()}
    around = _article_container(inside)
    restored = 0
    leads_in = False
    for element in around.iter(*_MEDIA):
        position = element_number(element)
        if position in kept or not _is_wanted(element, holders):
            continue
        if first < position < last or inside in element.iterancestors():
            restored += 1
            yield element
        elif position < first and not leads_in:
            leads_in = True
            yield element
        elif position > last and _is_in_gallery(element, around):
            restored += 1
            yield element
        if restored == _MAX_RESTORED:
            return


def _is_in_gallery(element: HtmlElement, around: HtmlElement) -> bool:
    """Return whether an image below the text stands in a gallery of its article, unlike teasers of other articles."""
    for ancestor in element.iterancestors():
        if ancestor is around:
            return False
        if _GALLERY.search(_class_and_id(ancestor)):
            return True
    return False


def _common_ancestor(elements: list[HtmlElement]) -> HtmlElement:
    common = list(reversed([*elements[0].iterancestors()]))
    for element in elements[1:]:
        line = reversed([*element.iterancestors()])
        common = [one for one, other in zip(common, line, strict=False) if one is other]
    return common[-1]


def _article_container(inside: HtmlElement) -> HtmlElement:
    """Return the outermost element around `inside` that has little more text than the article itself."""
    most = _MAX_TEXT_RATIO * len(inside.text_content()) + _MAX_CAPTION_CHARS
    around = inside
    for element in inside.iterancestors():
        if element.tag in ("body", "html") or len(element.text_content()) > most:
            break
        around = element
    return around


def _is_wanted(element: HtmlElement, holders: set[HtmlElement]) -> bool:
    """Return whether an element is content rather than decoration, navigation or an advertisement.

    holders: the elements that contain the whole article; their class names are ignored.
    """
    if _is_decoration(element) or _UNWANTED.search(_class_and_id(element)):
        return False
    for ancestor in element.iterancestors():
        if ancestor in holders:
            break
        if ancestor.tag in _SIDE_ELEMENTS or (
            ancestor.tag not in _IMAGE_CONTAINERS and _UNWANTED.search(_class_and_id(ancestor))
        ):
            return False
        if ancestor.tag == "a" and _leads_to_other_article(ancestor):
            return False
    return True


def _is_decoration(element: HtmlElement) -> bool:
    urls, (width, height) = _media_urls(element), _declared_size(element)
    if not urls or min(width or _MIN_SIDE_PX, height or _MIN_SIDE_PX) < _MIN_SIDE_PX:
        return True
    return max(width, height) < _LARGE_SIDE_PX and any(_DECORATION.search(url) for url in urls)


def _leads_to_other_article(link: HtmlElement) -> bool:
    """Return whether the link leads to another article, whose title is in the link or next to it."""
    href, box = link.get("href", ""), link.getparent()
    if _IMAGE_FILE.search(href):
        return False
    if link.text_content().strip():
        return True
    return box is not None and any(other is not link and other.get("href") == href for other in box.iter("a"))


def _declared_size(element: HtmlElement) -> tuple[int, int]:
    """Return the declared width and height in pixels, 0 for an undeclared one."""
    sizes = (element.get(name, "").strip().removesuffix("px") for name in ("width", "height"))
    width, height = (int(size) if size.isascii() and size.isdigit() and len(size) < 6 else 0 for size in sizes)
    return width, height


def _media_urls(element: HtmlElement) -> set[str]:
    """Return the URLs of an element's image or video, from any attribute."""
    urls = set()
    for source in (element, *element.iter("source")):
        for name, value in source.attrib.items():
            first = value.split(None, 1)[:1]
            if first and _SOURCE.fullmatch(name) and not first[0].startswith(("data:", "about:")):
                urls.add(first[0])
    return urls


def _enclosing_figure(element: HtmlElement, kept: dict[int, HtmlElement]) -> HtmlElement:
    """Return the `figure` or `picture` around the element if the article kept nothing of it, else the element."""
    figure = element
    for ancestor in element.iterancestors():
        if any(element_number(descendant) in kept for descendant in ancestor.iter("*")):
            break
        if ancestor.tag == "picture":
            figure = ancestor
        elif ancestor.tag == "figure" and len(ancestor.text_content()) < _MAX_CAPTION_CHARS:
            return ancestor
    return figure


def _insert_in_order(figure: HtmlElement, article: HtmlElement, following: HtmlElement | None) -> None:
    """Inserts a copy of `figure` before `following`, the first kept element after it on the page."""
    addition = copy.deepcopy(figure)
    addition.tail = None
    if following is None:
        article.append(addition)
        return
    position = element_number(figure)
    while (parent := following.getparent()) is not None and element_number(parent) > position:
        following = parent
    if following.getparent() is None:
        following.insert(0, addition)
    else:
        following.addprevious(addition)


def _has_enough_text(element: HtmlElement) -> bool:
    return len(" ".join(element.text_content().split())) >= _MIN_TEXT_CHARS


def _class_and_id(element: HtmlElement) -> str:
    return f"{element.get('class', '')} {element.get('id', '')}"


def element_number(element: HtmlElement) -> int:
    """Return the number that `number_elements` gave to an element, -1 if it has none."""
    return int(element.get(_NUMBER, "-1"))
