"""From a page to its article. To be called where time and memory are limited."""

from __future__ import annotations

from tidings.domain.articles import Article, Page
from tidings.domain.articles.finding import find
from tidings.domain.articles.pages import base_of, text_of_page
from tidings.domain.rules import pipeline


def extract(page: Page) -> Article:
    html = text_of_page(page)
    base_url = base_of(html, page.url)
    content, complaints = pipeline.scrape_page(html, _rules(page))
    return Article(find(html) if content is None else content, base_url, complaints)


def _rules(page: Page) -> pipeline.CompiledRules:
    return pipeline.compile_rules(pipeline.RuleTexts(scraper_rules=page.scraper_rules))
