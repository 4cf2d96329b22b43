"""Extracts the article of a page. Runs in a process with limited time and memory."""

from __future__ import annotations

from tidings.content.articles import Article, WebPage
from tidings.content.articles.main_content import find_article, page_title, parse_page
from tidings.content.articles.next_page import find_next_page, with_absolute_urls
from tidings.content.articles.page_hints import canonical_link
from tidings.content.articles.page_text import decode_page, page_base_url, text_as_html, text_title
from tidings.content.rules import pipeline


def extract_article(page: WebPage) -> Article:
    """Return the article of a page."""
    html = decode_page(page)
    if page.is_text:
        return Article(text_as_html(html), page.url, title=text_title(html), page_url=page.url)
    base_url = page_base_url(html, page.url)
    content, warnings = pipeline.scrape_page(html, _scraper_rules(page))
    tree = parse_page(html)
    title = "" if tree is None else page_title(tree)
    next_url = "" if tree is None else find_next_page(tree, page.url, base_url)
    page_url = ("" if tree is None else canonical_link(tree, base_url)) or page.url
    is_scraped = content is not None
    if content is None:
        content = "" if tree is None else find_article(tree)
    if page.is_continuation:
        content = with_absolute_urls(content, base_url)
    return Article(content, base_url, warnings, next_url, title, is_scraped, page_url)


def _scraper_rules(page: WebPage) -> pipeline.CompiledRules:
    return pipeline.compile_rules(pipeline.RuleTexts(scraper_rules=page.scraper_rules))
