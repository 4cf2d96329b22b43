"""Removes what its text shows to be no part of an article: labels of advertisements, counters of galleries, links.

Class names do not help here: publishers' editors put these between paragraphs as paragraphs of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from tidings.base.text import name_set

_TEXT: Final = etree.XPath("normalize-space()", smart_strings=False)

# The whole text of a label.
_LABEL: Final = re.compile(
    r"(?:-+\s*)?(?:advert(?:isement|ising)?|anzeige|werbung|publicité|publicidade?|pubblicità|reklama?|реклама|广告|広告"
    r"|(?:story|article) continues below(?: advertisement)?|(?:this|the) slideshow requires javascript\.?"
    r"|(?:media|video|audio) playback is (?:unsupported|not supported) on (?:your|this) device\.?"
    r"|your browser does not support (?:the |this )?(?:html5 )?(?:video|audio)(?: tag| element)?\.?"
    r"|(?:image|photo|picture|slide|bild|foto|imagen?) [0-9]{1,3} (?:of|/|von|de|sur|di) [0-9]{1,3}"
    r"|(?:(?:view|leave a|[0-9]+) comments?|comments)|close)(?:\s*-+)?:?",
    re.IGNORECASE,
)
_MAX_LABEL_CHARS: Final = 50
# Begins a line with links to other articles, or stands above them.
_RELATED: Final = re.compile(
    r"(?:related(?: \w{1,12})?|(?:see|read|watch|also) also"
    r"|(?:also )?read(?: more| next| this)?|more (?:on this|from|stories|coverage)[\w ]{0,30}|don't miss"
    r"|recommended(?: for you)?"
    r"|you (?:may|might)(?: also)? (?:also )?(?:like|be interested in)|also on [\w.]{1,30}|most (?:read|popular)"
    r"|(?:lesen|siehe|sehen) sie auch[\w ]{0,30}|mehr (?:zum thema|dazu)|das könnte (?:sie|dich) auch interessieren"
    r"|(?:auch|ebenfalls) interessant|(?:zum )?weiterlesen|schon gelesen|verwandte (?:artikel|beiträge|themen)"
    r"|(?:à )?lire aussi"
    r"|voir aussi|sur le même sujet|[lv]ea también|le[aé]r? (?:también|más)|[tl]e puede interesar"
    r"|leia (?:também|mais)|veja também"
    r"|leggi anche|lees ook|czytaj (?:też|także)|läs också|читайте также|по теме|см\. также|相关阅读|関連記事)"
    r"\s*(?:[:：|>»…—–?!-]|\.\.\.|$)\s*",
    re.IGNORECASE,
)
# Minimum share of link text in the characters of a line that is a link with blanks and punctuation around it.
_MIN_LINK_SHARE: Final = 0.95
# The same for a line that begins with such a label and may have further ones.
_MIN_LABELLED_SHARE: Final = 0.6
# A line with nothing but the time of the publication.
_PUBLISHED: Final = re.compile(
    r"(?:(?:first|last|originally) )?(?:published|posted|updated|modified|veröffentlicht|aktualisiert|publié|mis à jour"
    r"|publicad[oa]|actualizad[oa]|atualizad[oa]|pubblicato|aggiornato|опубликовано|обновлено)\b[^.!?]{0,60}[0-9][^!?]{0,30}",
    re.IGNORECASE,
)
_MAX_PUBLISHED_CHARS: Final = 80
_MAX_PUBLISHED_WORDS: Final = 13
# A line in capitals that is a link calls for attention; shorter ones may be abbreviations or names.
_MIN_CAPITALS: Final = 15
_SHARE_NAMES: Final = name_set(
    "facebook twitter x whatsapp pinterest pint linkedin reddit email e-mail mail telegram tumblr print share tweet pin"
    " copy link flipboard messenger sms vk ok viber line pocket"
)
_MIN_SHARE_LINKS: Final = 2
_MIN_SKIP_WORDS: Final = 3
_MAX_LAST_HEADINGS: Final = 10
_LINES: Final = ("p", "div", "center", "h2", "h3", "h4", "h5", "h6", "li")


def remove_boilerplate(article: HtmlElement) -> None:
    """Removes lines that are not part of the text from an article, and headings that nothing follows."""
    for element in list(article.iter(*_LINES, "span")):
        text = _TEXT(element)
        if text and len(text) <= _MAX_LABEL_CHARS and _LABEL.fullmatch(text) and not _has_media(element):
            element.drop_tree()
    before = _last_headings(article)
    for line in list(_lines(article)):
        if line.getparent() is None:
            continue
        text = _TEXT(line)
        label = _RELATED.match(text)
        if label is not None:
            _remove_related(line, text[label.end() :])
        elif (
            _is_skip_link(line, text)
            or _is_call(line, text)
            or _is_share_line(line, text)
            or _is_publication_time(line, text)
        ):
            line.drop_tree()
    for heading in _last_headings(article):
        if heading not in before:
            heading.drop_tree()


def _lines(article: HtmlElement) -> Iterator[HtmlElement]:
    """Yield the elements that hold text and no other line."""
    for element in article.iter(*_LINES):
        if next(element.iterdescendants("p", "div", "ul", "ol", "table", "blockquote"), None) is None:
            yield element


def _remove_related(line: HtmlElement, rest: str) -> None:
    """Removes a line of links after its label, or the label and the lines of links below it."""
    if rest:
        if _link_chars(line) >= _MIN_LABELLED_SHARE * len(rest) and not _has_media(line):
            line.drop_tree()
        return
    below = []
    for following in line.itersiblings():
        if not _is_all_links(following):
            break
        below.append(following)
    if below or _link_chars(line):
        for element in (line, *below):
            element.drop_tree()


def _is_all_links(element: HtmlElement) -> bool:
    text = _TEXT(element)
    return not _has_media(element) and bool(text) and _link_chars(element) >= _MIN_LINK_SHARE * len(text)


def _is_call(line: HtmlElement, text: str) -> bool:
    """Return whether a line is nothing but one link in capitals, as an editor writes it between paragraphs."""
    if line.tag != "p" or text.upper() != text or line.getprevious() is None:
        return False
    return sum(character.isupper() for character in text) >= _MIN_CAPITALS and _is_all_links(line)


def _is_skip_link(line: HtmlElement, text: str) -> bool:
    """Return whether a line is one link to another place of the page: past an advertisement, or back to the top.

    Several of them are a table of contents.
    """
    if line.tag not in ("p", "div") or len(text) > _MAX_LABEL_CHARS or len(text.split()) < _MIN_SKIP_WORDS:
        return False
    if not _is_place_on_page(line):
        return False
    return not any(one is not None and _is_place_on_page(one) for one in (line.getprevious(), line.getnext()))


def _is_place_on_page(element: HtmlElement) -> bool:
    links = list(element.iterdescendants("a"))
    return len(links) == 1 and links[0].get("href", "")[:1] == "#" and _TEXT(links[0]) == _TEXT(element)


def _is_share_line(line: HtmlElement, text: str) -> bool:
    links = sum(1 for _ in line.iterdescendants("a"))
    return (
        links >= _MIN_SHARE_LINKS
        and all(word in _SHARE_NAMES for word in re.findall(r"[\w-]+", text.lower()))
        and not _has_media(line)
    )


def _is_publication_time(line: HtmlElement, text: str) -> bool:
    return (
        len(text) <= _MAX_PUBLISHED_CHARS
        and _PUBLISHED.fullmatch(text) is not None
        and len(text.split()) <= _MAX_PUBLISHED_WORDS
        and not _has_media(line)
    )


def _last_headings(article: HtmlElement) -> set[HtmlElement]:
    """Return the headings that neither text nor media follow: what they announced is not in the article."""
    found: set[HtmlElement] = set()
    for heading in reversed(list(article.iter("h2", "h3", "h4", "h5", "h6"))):
        if len(found) == _MAX_LAST_HEADINGS or _has_media(heading) or _is_followed(heading, article, found):
            break
        found.add(heading)
    return found


def _is_followed(heading: HtmlElement, article: HtmlElement, last: set[HtmlElement]) -> bool:
    """Return whether text or media stand after a heading. last: headings that do not count."""
    element: HtmlElement | None = heading
    while element is not None and element is not article:
        if (element.tail or "").strip():
            return True
        for following in element.itersiblings():
            if (following not in last and _TEXT(following)) or _has_media(following) or (following.tail or "").strip():
                return True
        element = element.getparent()
    return False


def _link_chars(element: HtmlElement) -> int:
    return sum(len(_TEXT(link)) for link in element.iterdescendants("a") if link.get("href", "")[:1] != "#")


def _has_media(element: HtmlElement) -> bool:
    return next(element.iter("img", "picture", "video", "audio", "iframe", "svg"), None) is not None
