"""Every reader of text that comes from publishers, users, browsers, hubs, or files of other programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from markupsafe import escape

from tidings.domain import formats, text, url_schemes
from tidings.domain.archives import newsblur, saved_lists
from tidings.domain.articles import page_text
from tidings.domain.cleaning import clean, ids, srcset, urls
from tidings.domain.cleaning import text as clean_text
from tidings.domain.discovery import candidates, known_sites, page_links
from tidings.domain.entries import chapters, excerpts, highlights, reading_time, search, transcripts
from tidings.domain.feeds import opml
from tidings.domain.formats import charset, detect, loose_json
from tidings.domain.formats import text as format_text
from tidings.domain.formats import urls as format_urls
from tidings.domain.formats.dates import dates
from tidings.domain.formats.xml import doctype
from tidings.domain.icons import svg
from tidings.domain.integrations import templates
from tidings.domain.polling import cache_headers
from tidings.domain.rules import date_patterns, validation
from tidings.domain.times import Instant
from tidings.greader import item_ids, streams
from tidings.net import targets
from tidings.runtime import logs
from tidings.services.feeds import typed_urls
from tidings.web import cookies, language, security, user_agents
from tidings.web.articles import direction, embeds

NOW: Final = Instant(1_700_000_000_000_000)
BASE: Final = "https://a.example/"
Reader = Callable[[str], object]


def _feed(element: str) -> Reader:
    """Return a reader of a feed with the text inside an element of an item, once escaped and once as it is."""

    def read(value: str) -> None:
        for inside in (str(escape(value)), value):
            item = f"<item><title>a</title><link>{BASE}</link><{element}>{inside}</{element}></item>"
            with suppress(Exception):
                formats.parse_feed(_rss(item), url=BASE, now=NOW)

    return read


def _rss(inside: str) -> bytes:
    return f'<rss version="2.0"><channel><title>a</title>{inside}</channel></rss>'.encode("utf-8", "replace")


def _json_feed(value: str) -> object:
    item = {"id": "1", "url": BASE, "title": value, "content_html": value, "date_published": value}
    return formats.parse_feed(
        json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "a", "items": [item]}).encode(), url=BASE
    )


def _rules(field: str) -> Reader:
    return lambda value: validation.validate_feed_rules(**{field: value})


def _attribute(name: str, element: str) -> Reader:
    return lambda value: clean(f'<{element} {name}="{escape(value)}">', base_url=BASE)


def _highlight(value: str) -> object:
    highlighter = highlights.Highlighter(search.parse_query("rain"))
    return highlighter.excerpt(value), highlighter.pieces(value)


def _page(value: str) -> object:
    page = page_links.read_page_links(value.encode("utf-8", "replace"), url=BASE)
    return candidates.declared_feeds(page), candidates.linked_feeds(page, limit=10)


def _quietly(read: Callable[[str], Any]) -> Reader:
    """Return a reader whose errors of values do not matter here."""

    def quiet(value: str) -> None:
        with suppress(ValueError, LookupError, TypeError, RecursionError):
            read(value)

    return quiet


READERS: Final[dict[str, Reader]] = {
    "transcript": lambda value: transcripts.read_transcript(value, url=BASE),
    "chapters": lambda value: chapters.read_chapters(value.encode("utf-8", "replace")),
    "chapter titles": lambda value: chapters.read_chapters(
        json.dumps({"chapters": [{"startTime": value[:100], "title": value}]}).encode()
    ),
    "excerpt": excerpts.excerpt,
    "first image": excerpts.first_image,
    "highlights": _highlight,
    "reading time": reading_time.reading_minutes,
    "search terms": search.terms,
    "search query": search.parse_query,
    "date": lambda value: dates.parse_date(value, NOW),
    "two-digit years": dates.with_full_year,
    "ambiguous date": dates.is_ambiguous,
    "document": _quietly(lambda value: formats.parse_feed(value.encode("utf-8", "replace"), url=BASE, now=NOW)),
    "title of a feed": _feed("title"),
    "content of a feed": _feed("description"),
    "date of a feed": _feed("pubDate"),
    "id of a feed": _feed("guid"),
    "link of a feed": _feed("link"),
    "author of a feed": _feed("author"),
    "categories of a feed": _feed("category"),
    "JSON Feed": _json_feed,
    "loose JSON": loose_json.read_json,
    "format": lambda value: detect.detect_format(value.encode("utf-8", "replace")),
    "charset": lambda value: charset.decode(value.encode("utf-8", "replace")),
    "charset of bytes": lambda value: charset.decode(value.encode("utf-16-le", "replace") + b"\xff"),
    "entities of a document": doctype.declared_entities,
    "whitespace": format_text.collapse_whitespace,
    "CDATA": format_text.unwrap_cdata,
    "text of HTML": format_text.html_to_text,
    "title": format_text.title_to_text,
    "title in HTML": format_text.html_title_to_text,
    "excerpt of a feed": format_text.excerpt,
    "relative URL": lambda value: format_urls.absolute_url(value, BASE),
    "cleaning": lambda value: clean(value, base_url=BASE),
    "srcset": srcset.candidates,
    "srcset of an image": _attribute("srcset", "img"),
    "style of an image": _attribute("style", "img"),
    "link": _attribute("href", "a"),
    "source of a frame": _attribute("src", "iframe"),
    "text of an article": clean_text.text_of,
    "words": clean_text.normalize_words,
    "ids of an article": ids.prefix_ids,
    "resolved URL": _quietly(lambda value: urls.resolve_url(BASE, value)),
    "SVG icon": lambda value: svg.sanitize_svg(value.encode("utf-8", "replace")),
    "links of a page": _page,
    "known sites": lambda value: known_sites.known_site_feeds("https://www.youtube.com/@a", value),
    "address of a known site": lambda value: known_sites.known_site_feeds(f"https://www.youtube.com/{value}"),
    "common locations": _quietly(lambda value: candidates.common_locations(BASE + value)),
    "base of a page": lambda value: page_text.page_base_url(value, BASE),
    "OPML": lambda value: opml.read(value.encode("utf-8", "replace")),
    "OPML attributes": lambda value: opml.read(
        f'<opml><body><outline text="{escape(value)}" xmlUrl="{escape(value)}"/></body></opml>'.encode(
            "utf-8", "replace"
        )
    ),
    "Pocket list": _quietly(lambda value: list(saved_lists.read_pocket(["title,url,time_added,tags,status", value]))),
    "Instapaper list": _quietly(
        lambda value: list(saved_lists.read_instapaper(["URL,Title,Selection,Folder,Timestamp", value]))
    ),
    "Feedbin list": _quietly(lambda value: list(saved_lists.read_feedbin(value.encode("utf-8", "replace")))),
    "NewsBlur stories": _quietly(lambda value: list(newsblur.saved_stories([value.encode("utf-8", "replace")]) or ())),
    "rewrite rules": _rules("rewrite_rules"),
    "scraper rules": _rules("scraper_rules"),
    "URL rewrite rules": _rules("urlrewrite_rules"),
    "block rules": _rules("block_filter_entry_rules"),
    "keep list": _rules("keeplist_rules"),
    "date pattern": _quietly(date_patterns.parse_date_pattern),
    "freshness": lambda value: cache_headers.freshness_s(
        cache_control=value, expires=value, age=value, date=value, now=NOW
    ),
    "Retry-After": lambda value: cache_headers.retry_after_s(value, NOW),
    "HTTP date": cache_headers.http_date,
    "Link": lambda value: cache_headers.parse_links(value, BASE),
    "template of a request": _quietly(lambda value: templates.check_template(value, field="body")),
    "line": text.plain_line,
    "normal form": text.normalize_for_search,
    "scheme": url_schemes.safe_href,
    "target of a request": lambda value: targets.parse_target(BASE + value),
    "typed address": typed_urls.complete_url,
    "stream of an app": _quietly(streams.parse),
    "id of an app": _quietly(item_ids.parse),
    "browser": user_agents.browser_name,
    "languages of a browser": language.language_of_header,
    "address after sign-in": security.local_path,
    "cookie": _quietly(cookies.unpack),
    "direction of a text": lambda value: direction.text_direction("", value),
    "players of an article": lambda value: embeds.defer_players(clean(value, base_url=BASE)),
    "frames of an article": lambda value: embeds.link_players(clean(value, base_url=BASE)),
    "log line": lambda value: logs.without_secrets(f"https://{value}"),
}
