"""Rewrite rules for links."""

from __future__ import annotations

import re
from html import escape
from typing import Final
from urllib.parse import parse_qs, quote

from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.content.rules.evaluation import RuleEntry, split_url
from tidings.content.rules.rewrites.markup import attribute, insert_html_after, link, on_tree, replace_with_html
from tidings.content.rules.selectors import nearest_ancestors

_ADDRESS: Final = re.compile(r"https?://[^\s<>\"]{1,2000}")
# At the end of a URL these belong to the sentence around it.
_SENTENCE_MARKS: Final = ".,;:!?'»”’"
_NOT_PROSE: Final = "a, button, code, pre, script, style, textarea"
_HN_ITEM: Final = re.compile(r"https?://news\.ycombinator\.com/item\?id=([0-9]{1,12})")
_MAX_SUBJECT_CHARS: Final = 500


@on_tree
def add_mailto_subject(tree: LexborHTMLParser) -> None:
    for mail in tree.css('a[href^="mailto:" i]'):
        if subject := _subject(attribute(mail, "href")):
            mail.insert_child(f" [{subject}]")


@on_tree
def convert_text_links(tree: LexborHTMLParser) -> None:
    nodes = tree.root.traverse(include_text=True) if tree.root else ()
    texts = [node for node in nodes if node.is_text_node and "://" in (node.text_content or "")]
    not_prose = nearest_ancestors(texts, tree.css(_NOT_PROSE))
    for node in texts:
        if node.mem_id not in not_prose:
            replace_with_html(node, _with_links(node.text_content or ""))


def add_pdf_download_link(entry: RuleEntry) -> RuleEntry:
    if not split_url(entry.url).path.lower().endswith(".pdf"):
        return entry
    return replace(entry, content=f"<p>{link(entry.url, 'Download PDF')}</p>{entry.content}")


def add_enclosure_links(entry: RuleEntry) -> RuleEntry:
    items = [
        f"<li>{link(enclosure.url, _file_name(enclosure.url))}</li>" for enclosure in entry.enclosures if enclosure.url
    ]
    return replace(entry, content=f"{entry.content}<ul>{''.join(items)}</ul>") if items else entry


@on_tree
def add_hn_links_using_hack(tree: LexborHTMLParser) -> None:
    for found, item in _hacker_news_links(tree):
        insert_html_after(found, " " + link(f"hack://item?id={item[1]}", "Open with HACK"))


@on_tree
def add_hn_links_using_opener(tree: LexborHTMLParser) -> None:
    for found, item in _hacker_news_links(tree):
        url = f"opener://x-callback-url/show-options?url={quote(item[0], safe='')}"
        insert_html_after(found, " " + link(url, "Open with Opener"))


def _subject(url: str) -> str:
    try:
        subjects = parse_qs(url.partition("?")[2], max_num_fields=100).get("subject", [])
    except ValueError:
        return ""
    return subjects[0][:_MAX_SUBJECT_CHARS] if subjects else ""


def _with_links(text: str) -> str:
    pieces: list[str] = []
    position = 0
    for match in _ADDRESS.finditer(text):
        url = _without_sentence_end(match[0])
        pieces += (escape(text[position : match.start()]), link(url, url))
        position = match.start() + len(url)
    return "".join((*pieces, escape(text[position:])))


def _without_sentence_end(url: str) -> str:
    """Return the URL without punctuation of the sentence.

    A closing parenthesis stays if the URL has an opening one.
    """
    url = url.rstrip(_SENTENCE_MARKS)
    while url.endswith(")") and url.count(")") > url.count("("):
        url = url[:-1].rstrip(_SENTENCE_MARKS)
    return url


def _file_name(url: str) -> str:
    return split_url(url).path.rpartition("/")[2] or url


def _hacker_news_links(tree: LexborHTMLParser) -> list[tuple[LexborNode, re.Match[str]]]:
    links = tree.css('a[href*="news.ycombinator.com/item"]')
    return [(link, item) for link in links if (item := _HN_ITEM.match(attribute(link, "href")))]
