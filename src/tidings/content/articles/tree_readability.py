"""Readability for a tree: keeps the tree of the article, is faster, and shields parts of texts from lists of names.

Readability drops elements whose class or id looks unlikely for an article ("comment", "twitter"), and lists, tables and
boxes with little text or many links. Both also apply to parts of sentences, to quotations and to data. This subclass
replaces the steps of readability that decide so. It removes nothing for safety: the result is cleaned later.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from lxml import etree
from lxml.html import HtmlElement
from msgspec import Struct
from readability import Document
from readability.readability import REGEXES, Unparseable

from tidings.content.articles.lost_media import element_number
from tidings.content.articles.surroundings import (
    class_and_id,
    is_in_text,
    is_shielded,
    main_text_length,
    named_elements,
    paragraph_text_length,
    remove_surroundings,
    text_length,
)
from tidings.content.xml.elements import to_html

_HIDDEN: Final = etree.XPath("descendant::*[@hidden or @style or @role]")
_TEXT: Final = etree.XPath("normalize-space()", smart_strings=False)

# Source: WAI-ARIA 1.2, section 5.3 (categorization of roles).
_SIDE_ROLES: Final = frozenset({"alertdialog", "complementary", "dialog", "menu", "menubar", "navigation"})

# Names of what lies over the page: dialogs, the controls of players, requests for consent.
_OVERLAY: Final = re.compile(
    r"(?<![a-z])(?:modal|newsletter|vjs-|(?:cookie|gdpr)-(?:banner|bar|consent|notice))", re.IGNORECASE
)
# Names of a dialog itself, unlike those of elements that open one.
_DIALOG: Final = re.compile(
    r"(?<![\w-])modal(?:(?:__|-)(?:body|content|dialog|container|window|wrapper))?(?![\w-])", re.IGNORECASE
)

# Shown on paper only, or by browsers without scripts. Bootstrap's `d-none` may be undone for wider windows.
_HIDDEN_NAME: Final = re.compile(r"(?<![\w-])(?:d-none|visible-print|print-only)(?![\w-])|noscript", re.IGNORECASE)
_SHOWN_NAME: Final = re.compile(r"(?<![\w-])d-(?:sm|md|lg|xl|xxl)-(?!none)", re.IGNORECASE)
# Names of discussions among the unlikely ones.
_DISCUSSION: Final = re.compile(r"combx|comment|community|disqus|remark|shoutbox|tweet", re.IGNORECASE)
# What appears next to a name in the text while the pointer is over it.
_POPUP: Final = re.compile(r"(?<![a-z])(?:rollover|pop-?over|hover-?card|tool-?tip|fly-?out)", re.IGNORECASE)
_MIN_POPUP_LINKS: Final = 2
_MIN_POPUP_LINK_SHARE: Final = 0.8

# A list or a table with more of its text in links leads elsewhere.
_MAX_LINK_SHARE: Final = 0.3
# Of the length of a main text: an element with more paragraphs has most of them.
_MIN_MOST_RATIO: Final = 2.7
# Of the text of a page: an element with more is the article itself, whatever its name.
_MIN_STRIPPED_SHARE: Final = 0.5
# Of the text of an element around the best candidate.
_MAX_CLIMB: Final = 3
_MIN_ADDED_SHARE: Final = 0.1
_MAX_OTHER_SHARE: Final = 0.5
_MIN_SECTION_SHARE: Final = 0.9
_MIN_PARAGRAPH_CHARS: Final = 60
_MIN_ITEMS: Final = 2
_MIN_TABLE_CELLS: Final = 4
_SUBHEADINGS: Final = frozenset({"h2", "h3", "h4", "h5", "h6"})
_MIN_QUOTED_SHARE: Final = 0.8
_MIN_ARTICLE_CHARS: Final = 250
# A candidate with fewer characters gives way to one with this many times its text and this share of its score.
_MAX_SHORT_CHARS: Final = 1_000
_MIN_LONGER_RATIO: Final = 5
_MIN_SIMILAR_SCORE: Final = 0.45
_MAX_LONGER_LINK_SHARE: Final = 0.1
# Candidates with the same names, and their share of the text of the element around them.
_MIN_PEERS: Final = 3
_MIN_PEERS_SHARE: Final = 0.5
_NO_ARTICLES: Final = ("body", "form", "aside", "nav")
_SENTENCE_ENDS: Final = (".", "!", "?", "\u201d", '"', "\u3002")
_MIN_SENTENCE_CHARS: Final = 25


def strip_page(part: HtmlElement) -> None:
    """Removes from a part of a page what its names or roles show to be no article, unless most of the text is in it."""
    main_chars = _MIN_STRIPPED_SHARE * text_length(part)
    for element in list(part.iter("nav", "aside", "footer", "form", "button", "select")):
        if text_length(element) < main_chars:
            element.drop_tree()
    _drop_hidden(part)
    for element in named_elements(part):
        meaning = _name_meaning(class_and_id(element))
        if (
            (meaning.is_hidden or meaning.is_overlay or meaning.is_unlikely)
            and not is_in_text(element)
            and text_length(element) < main_chars
        ):
            element.drop_tree()


def _drop_hidden(page: HtmlElement) -> None:
    hides = REGEXES["displayNoneRe"].search
    for element in _HIDDEN(page):
        role = element.get("role", "").strip().lower()
        if element.get("hidden") is not None or role in _SIDE_ROLES or hides(element.get("style", "")):
            element.drop_tree()


def run_readability(page: HtmlElement) -> HtmlElement | None:
    """Return the element that readability builds; None if it finds none. Raises MemoryError."""
    document = _TreeReadability(page)
    try:
        document.summary(html_partial=True)
    except Unparseable as error:
        if isinstance(error.__context__, MemoryError):
            raise MemoryError from error  # noqa: TRY004 - not a matter of types
        return None
    return document.article


class _TreeReadability(Document):  # type: ignore[misc]
    article: HtmlElement | None = None
    page_title = ""
    former_boxes: list[HtmlElement]

    def get_clean_html(self) -> Any:
        self.article = self.html
        return to_html(self.html)

    def _parse(self, page: HtmlElement) -> HtmlElement:
        """Return a copy of the page without hidden elements."""
        page = copy.deepcopy(page)
        self.page_title = page.findtext(".//title") or ""
        _drop_hidden(page)
        return page

    def remove_unlikely_candidates(self) -> None:
        main_chars = main_text_length(self.html)
        most_chars = main_chars * _MIN_MOST_RATIO
        # Many elements have the same names.
        known: dict[str, _NameMeaning] = {}
        for element in named_elements(self.html):
            names = class_and_id(element)
            meaning = known.get(names)
            if meaning is None:
                meaning = known[names] = _name_meaning(names)
            if meaning.is_hidden or (meaning.is_popup and self._is_popup(element)):
                element.drop_tree()
            elif meaning.is_overlay:
                # Terms and notes in a dialog may be longer than the article.
                least_chars = most_chars if _DIALOG.search(names) else main_chars
                if paragraph_text_length(element) < least_chars and not is_shielded(element):
                    element.drop_tree()
            # A discussion may be longer than the article; anything else with most of the text is the article.
            elif (
                meaning.is_unlikely
                and not is_shielded(element)
                and (_DISCUSSION.search(names) or paragraph_text_length(element) < most_chars)
            ):
                element.drop_tree()

    def transform_misused_divs_into_paragraphs(self) -> None:
        boxes = list(self.html.iter("div"))
        super().transform_misused_divs_into_paragraphs()
        self.former_boxes = [box for box in boxes if box.tag == "p"]

    def _is_popup(self, element: HtmlElement) -> bool:
        """Return whether an element with the name of a popup holds links to other pages and little else."""
        links = sum(1 for _ in element.iterdescendants("a"))
        return links >= _MIN_POPUP_LINKS and self.get_link_density(element) >= _MIN_POPUP_LINK_SHARE

    def sanitize(self, node: HtmlElement, *arguments: Any, **options: Any) -> Any:
        for box in self.former_boxes:
            box.tag = "div"  # what is in a paragraph is shielded; a box with a title or a date is none
        remove_surroundings(node, self.page_title)
        for box in self.former_boxes:
            box.tag = "p"
        return super().sanitize(node, *arguments, **options)

    def get_link_density(self, elem: HtmlElement) -> float:
        if elem.tag in _SUBHEADINGS and self._is_followed_by_text(elem):
            return 0.0
        in_links = sum(len(_TEXT(link)) for link in elem.iterdescendants("a") if not _stays_on_page(link))
        return in_links / max(len(_TEXT(elem)), 1) if in_links else 0.0

    def _is_followed_by_text(self, heading: HtmlElement) -> bool:
        """Return whether a paragraph follows, so that a heading with a link is not a list of links.

        A picture or a player may stand between them.
        """
        following = heading.getnext()
        if following is not None and _is_media_box(following):
            following = following.getnext()
        return following is not None and following.tag == "p" and self._paragraph_chars([following]) > 0

    def score_paragraphs(self) -> dict[HtmlElement, dict[str, Any]]:
        """Return the elements that may be the article, with their scores: points for the paragraphs inside."""
        candidates: dict[HtmlElement, dict[str, Any]] = {}
        for name in ("p", "pre", "td", "blockquote"):
            for paragraph in self.html.iterdescendants(name):
                text = _TEXT(paragraph)
                if len(text) < self.min_text_length:
                    continue
                points = 2 + text.count(",") + min(len(text) / 100, 3)
                for holder in list(paragraph.iterancestors())[:2]:
                    if holder not in candidates:
                        candidates[holder] = self.score_node(holder)
                    candidates[holder]["content_score"] += points
                    points /= 2
        for element, candidate in candidates.items():
            candidate["content_score"] *= 1 - self.get_link_density(element)
        return candidates

    def select_best_candidate(self, candidates: dict[HtmlElement, dict[str, Any]]) -> dict[str, Any] | None:
        """Return the best candidate, or the element around it that has paragraphs before it and little else.

        Paragraphs after it more often belong to another article. A table of data is an article with its surroundings.
        """
        best: dict[str, Any] | None = super().select_best_candidate(candidates)
        if best is None:
            return None
        titled = self._titled_article(candidates, best["elem"])
        if titled is None:
            best = self._much_longer(candidates, best) or best
            best = self._around_peers(candidates, best) or best
        else:
            best = titled
        table = next(
            (ancestor for ancestor in (best["elem"], *best["elem"].iterancestors()) if ancestor.tag == "table"), None
        )
        if table is not None and self._is_data_table(table) and (around := table.getparent()) is not None:
            best = candidates.setdefault(around, self.score_node(around))
        for ancestor in list(best["elem"].iterancestors())[:_MAX_CLIMB]:
            if best["elem"].tag == "article" or ancestor.tag in ("body", "html", "form", "aside", "nav"):
                break
            if ancestor.getparent() is not None and self._has_sections(ancestor.getparent(), ancestor):
                best = candidates.setdefault(ancestor.getparent(), self.score_node(ancestor.getparent()))
                break
            inside = self._paragraph_chars(best["elem"].iterdescendants("p"))
            before = self._paragraph_chars(_paragraphs_before(best["elem"], ancestor))
            other = text_length(ancestor) - text_length(best["elem"]) - before
            if before >= _MIN_ADDED_SHARE * inside and other <= _MAX_OTHER_SHARE * before:
                best = candidates.setdefault(ancestor, self.score_node(ancestor))
        return best

    def _titled_article(
        self, candidates: dict[HtmlElement, dict[str, Any]], best: HtmlElement
    ) -> dict[str, Any] | None:
        """Return the candidate with the only `h1` of the page if it is an `article` next to the best one, else None.

        The longer ones next to it are other articles that the page recommends; they are removed.
        """
        titles = list(self.html.iterdescendants("h1"))
        article = next(titles[0].iterancestors("article"), None) if len(titles) == 1 else None
        if article is None or article not in candidates or text_length(article) < _MIN_ARTICLE_CHARS:
            return None
        if article in (best, *best.iterancestors()) or best in article.iterancestors():
            return None
        if self.get_link_density(article) > _MAX_LINK_SHARE:
            return None
        for other in [*article.itersiblings("article"), *article.itersiblings("article", preceding=True)]:
            other.drop_tree()
        return candidates[article]

    def _much_longer(
        self, candidates: dict[HtmlElement, dict[str, Any]], best: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Return the best one of the candidates that have many times the text of the best one, and a similar score.

        Names alone may give a sentence more points than a long text without commas.
        """
        chars = text_length(best["elem"])
        if chars >= _MAX_SHORT_CHARS:
            return None
        longer = [
            one
            for one in candidates.values()
            if one["content_score"] >= _MIN_SIMILAR_SCORE * best["content_score"]
            and one["elem"].tag not in _NO_ARTICLES
            and text_length(one["elem"]) >= _MIN_LONGER_RATIO * chars
            and self.get_link_density(one["elem"]) <= _MAX_LONGER_LINK_SHARE
        ]
        return max(longer, key=lambda one: one["content_score"], default=None)

    def _around_peers(
        self, candidates: dict[HtmlElement, dict[str, Any]], best: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Return the element around several candidates like the best one, as the posts of a discussion or a list."""
        names = best["elem"].get("class", "")
        peers = [
            one["elem"]
            for one in candidates.values()
            if one["content_score"] >= _MIN_SIMILAR_SCORE * best["content_score"]
            and one["elem"].tag == best["elem"].tag
            and one["elem"].get("class", "") == names
        ]
        if not names or len(peers) < _MIN_PEERS:
            return None
        first, last = min(peers, key=element_number), max(peers, key=element_number)
        around = {*first.iterancestors()}
        common = next(one for one in last.iterancestors() if one in around)
        if common.tag in ("html", *_NO_ARTICLES) or self.get_link_density(common) > _MAX_LINK_SHARE:
            return None
        if sum(text_length(one) for one in peers) < _MIN_PEERS_SHARE * text_length(common):
            return None
        return candidates.setdefault(common, self.score_node(common))

    def _has_sections(self, around: HtmlElement, section: HtmlElement) -> bool:
        """Return whether the text is in several sections, this one among them, with little else around them."""
        if not _is_section(section) or around.tag in ("body", "html", "form", "aside", "nav"):
            return False
        others = [one for one in around.iterchildren("section", "div") if one is not section and _is_section(one)]
        text = sum(self._paragraph_chars(one.iter("p")) for one in others)
        if text < _MIN_ADDED_SHARE * self._paragraph_chars(section.iter("p")):
            return False
        in_sections = sum(text_length(one) for one in (section, *others))
        return (
            in_sections >= _MIN_SECTION_SHARE * text_length(around) and self.get_link_density(around) <= _MAX_LINK_SHARE
        )

    def _paragraph_chars(self, paragraphs: Iterable[HtmlElement]) -> int:
        """Return the number of characters in those paragraphs that are neither short nor lists of links."""
        total = 0
        for paragraph in paragraphs:
            chars = text_length(paragraph)
            if chars >= _MIN_PARAGRAPH_CHARS and self.get_link_density(paragraph) <= _MAX_LINK_SHARE:
                total += chars
        return total

    def get_preserved_elements(self, node: HtmlElement) -> dict[HtmlElement, bool]:
        """Return the elements of the article that are kept whatever their length, classes or links."""
        kept = {
            element: True
            for element in node.iterdescendants("ul", "table", "div", "section")
            if self._is_preserved(element)
        }
        most_chars = main_text_length(node) * _MIN_MOST_RATIO
        inside: Counter[HtmlElement] = Counter()
        for paragraph in node.iterdescendants("p"):
            chars = text_length(paragraph)
            for ancestor in paragraph.iterancestors():
                inside[ancestor] += chars
        most = (element for element, chars in inside.items() if chars >= most_chars > 0)
        return kept | {element: True for element in most if not _DISCUSSION.search(class_and_id(element))}

    def _is_preserved(self, element: HtmlElement) -> bool:
        if element.tag == "ul":
            return self.is_toc_list(element) or self._is_list_of_words(element)
        if element.tag == "table":
            return self._is_data_table(element)
        return bool(self.is_quote_lead(element)) or _is_quotation(element) or _is_sentence(element)

    def _is_list_of_words(self, element: HtmlElement) -> bool:
        items = element.findall("li")
        return (
            (len(items) >= _MIN_ITEMS or (len(items) == 1 and text_length(items[0]) >= _MIN_SENTENCE_CHARS))
            and self.class_weight(element) >= 0
            and all(_TEXT(item) for item in items)
            and self.get_link_density(element) <= _MAX_LINK_SHARE
        )

    def _is_data_table(self, element: HtmlElement) -> bool:
        if next(element.iterdescendants("table", "form"), None) is not None or self.class_weight(element) < 0:
            return False
        cells = sum(1 for _ in element.iterdescendants("td", "th"))
        return cells >= _MIN_TABLE_CELLS and self.get_link_density(element) <= _MAX_LINK_SHARE


def _paragraphs_before(element: HtmlElement, ancestor: HtmlElement) -> Iterator[HtmlElement]:
    for line in (element, *element.iterancestors()):
        if line is ancestor:
            return
        for sibling in line.itersiblings(preceding=True):
            yield from sibling.iter("p")


def _is_media_box(element: HtmlElement) -> bool:
    return not _TEXT(element) and next(element.iter("img", "iframe", "video", "audio"), None) is not None


def _is_section(element: HtmlElement) -> bool:
    """Return whether an element is a section, including the forms that HTML 4 and documentation generators use."""
    return element.tag == "section" or (element.tag == "div" and "section" in element.get("class", "").split())


class _NameMeaning(Struct, frozen=True):
    """What the class and the id of an element reveal about it."""

    is_hidden: bool
    is_popup: bool
    is_overlay: bool
    is_unlikely: bool


def _name_meaning(names: str) -> _NameMeaning:
    is_unlikely, is_likely = REGEXES["unlikelyCandidatesRe"].search, REGEXES["okMaybeItsACandidateRe"].search
    return _NameMeaning(
        is_hidden=_HIDDEN_NAME.search(names) is not None and _SHOWN_NAME.search(names) is None,
        is_popup=_POPUP.search(names) is not None,
        is_overlay=_OVERLAY.search(names) is not None,
        is_unlikely=is_unlikely(names) is not None and is_likely(names) is None,
    )


def _is_quotation(element: HtmlElement) -> bool:
    """Return whether most of an element's text is in quotations, as in the frame of an embedded post."""
    quoted = sum(len(_TEXT(quotation)) for quotation in element.iterdescendants("blockquote"))
    return quoted > 0 and quoted >= _MIN_QUOTED_SHARE * len(_TEXT(element))


def _is_sentence(element: HtmlElement) -> bool:
    """Return whether an element is a box around one paragraph that is a sentence, however much of it is a link."""
    paragraphs = list(element.iterdescendants("p"))
    if len(paragraphs) != 1 or element.tag != "div":
        return False
    text = _TEXT(paragraphs[0])
    in_links = sum(len(_TEXT(link)) for link in paragraphs[0].iterdescendants("a"))
    is_sentence = text.endswith(_SENTENCE_ENDS) and len(text) - in_links >= _MIN_SENTENCE_CHARS
    return is_sentence and text == _TEXT(element) and _has_similar_sibling(element)


def _has_similar_sibling(element: HtmlElement) -> bool:
    """Return whether an element, or the one that it fills, has a sibling with a class of the same name."""
    box = element
    while (around := box.getparent()) is not None and len(around) == 1:
        box = around
    names = set(box.get("class", "").split())
    return any(
        one is not None and one.tag == box.tag and not names.isdisjoint(one.get("class", "").split())
        for one in (box.getnext(), box.getprevious())
    )


def _stays_on_page(link: HtmlElement) -> bool:
    return link.get("href", "").startswith("#")
