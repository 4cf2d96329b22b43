"""Every reader of text from outside: publishers, hubs, imported files, requests, and what users type."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from starlette.datastructures import Headers

from tidings.agents import fences
from tidings.archives.formats import miniflux, newsblur, saved_lists
from tidings.archives.formats.json_items import JsonItems
from tidings.archives.formats.reader_streams import ReaderStreams
from tidings.archives.readers import freshrss_database as freshrss
from tidings.base.errors import TidingsError
from tidings.base.messages import decode_message
from tidings.base.text import plain_line
from tidings.base.times import Instant
from tidings.base.url_schemes import safe_href, scheme_of
from tidings.content.articles import WebPage
from tidings.content.articles.extract import extract_article
from tidings.content.cleaning import clean, clean_with_text, text_of
from tidings.content.cleaning.attribute_checks import prefix_ids
from tidings.content.cleaning.media import candidates
from tidings.content.cleaning.sanitize import close_elements, truncate
from tidings.content.cleaning.text import count_words
from tidings.content.dates import find_order, parse_date
from tidings.content.discovery.candidates import common_locations, declared_feeds, linked_feeds
from tidings.content.discovery.known_sites import known_site_feeds
from tidings.content.discovery.page_links import read_page_links
from tidings.content.formats import parse_feed
from tidings.content.formats.charset import decode
from tidings.content.formats.extensions import join_names, parse_play_time
from tidings.content.formats.parse import detect_format
from tidings.content.formats.text import excerpt, html_title_to_text, html_to_text, title_to_text
from tidings.content.icons import declared_icons, decode_data_url, sanitize_svg
from tidings.content.markdown import to_markdown
from tidings.content.model import ParsedEntry
from tidings.content.rules.evaluation import RuleErrors
from tidings.content.rules.filters import parse_entry_list, parse_filters
from tidings.content.rules.pipeline import (
    RuleTexts,
    compile_rules,
    parse_url_rewrite,
    rewrite_entry,
    scrape_page,
    validate_selector,
)
from tidings.content.rules.rewrite import parse_rewrites, read_calls
from tidings.content.search import parse_query, terms
from tidings.content.urls import absolute_url, host_of, resolve_url, strip_tracking, tidy_url
from tidings.deliveries.placeholders import check_template
from tidings.deliveries.providers import custom
from tidings.deliveries.providers.apprise import service_urls
from tidings.deliveries.requests import split_tags
from tidings.domain.accounts import user_changes
from tidings.domain.entries import excerpts, reading_time
from tidings.domain.entries.entries import read_chapters
from tidings.domain.entries.highlights import Highlighter
from tidings.domain.feeds import feed_changes, opml
from tidings.domain.polling.changes import canonical_url
from tidings.greader import streams
from tidings.http import forms, json_body
from tidings.http.requests import Request, parse_pairs
from tidings.http.responses import coding_for
from tidings.media.rewrite import rewrite_media
from tidings.media.transcripts import read_transcript
from tidings.net import responses
from tidings.net.guard import parse_target
from tidings.net.responses import clean as clean_header
from tidings.runtime.logs import without_secrets
from tidings.services.feeds.typed_urls import complete_url
from tidings.web.articles import content, embeds
from tidings.web.browser_names import browser_name
from tidings.web.language import language_of_header
from tidings.web.rendering import text_direction
from tidings.websub import model as subscriptions

_URL: Final = "https://blog.example/posts/1"
_NOW: Final = Instant(1_795_000_000_000_000)
_ITEM: Final = "<rss version='2.0'><channel><title>a</title><item><guid>1</guid>{}</item></channel></rss>"
_ATOM: Final = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id>{}</entry></feed>'


@dataclass(frozen=True)
class Reader:
    """read: takes a text, and may raise an error of Tidings. frames: around the hostile text, at %s.

    size: characters of the smaller of two texts.
    """

    name: str
    read: Callable[[str], object]
    frames: tuple[str, ...] = ("%s",)
    size: int = 25_000

    def run(self, text: str) -> None:
        with contextlib.suppress(TidingsError):
            self.read(text)


def _bytes(read: Callable[[bytes], object]) -> Callable[[str], object]:
    return lambda text: read(text.encode(errors="surrogatepass"))


def _feed(text: str) -> object:
    return parse_feed(text.encode(errors="replace"), url=_URL, now=_NOW)


def _detect(text: str) -> object:
    return detect_format(text.encode(errors="replace"))


def _shown(text: str) -> object:
    """What a page does with stored content, and with the texts beside it."""
    html = clean(text, base_url=_URL)
    rewrite_media(prefix_ids(html), lambda url, _: url)
    content._link_pictures(content._without_candidates(html))
    embeds.defer_players(html)
    embeds.link_players(html)
    excerpts.excerpt(html)
    excerpts.first_image(html)
    reading_time.reading_minutes(html)
    text_of(close_elements(html))
    count_words(text)
    return text_direction("en", text)


def _highlighted(text: str) -> object:
    highlighter = Highlighter(parse_query('"aaa aa" 111 中中').wanted)
    return highlighter.pieces(text), highlighter.excerpt(text)


def _request(**headers: str) -> Request:
    raw = Headers(
        {
            name.replace("_", "-"): value.encode("latin-1", "replace").decode("latin-1")
            for name, value in headers.items()
        }
    )
    return Request({"type": "http", "method": "POST", "path": "/", "headers": raw.raw}, None)  # type: ignore[arg-type]


def _form(text: str) -> object:
    request = _request(content_type="multipart/form-data; boundary=x")
    request.content = text.encode(errors="replace")
    return forms.read(request)


def _form_type(text: str) -> object:
    request = _request(content_type=text)
    request.content = b"a"
    return forms.kind_of(request), forms.read(request)


def _page(text: str) -> object:
    links = read_page_links(text.encode(errors="replace"), url=_URL)
    return declared_feeds(links), linked_feeds(links, limit=10), declared_icons(links), known_site_feeds(_URL, text)


def _article(text: str) -> object:
    return extract_article(WebPage(text.encode(errors="replace"), "", _URL))


def _rewritten(text: str) -> object:
    """All rewrites of an entry that have no expression of the user."""
    calls = (
        "add_image_title, add_mailto_subject, add_dynamic_image, add_dynamic_iframe, add_pdf_download_link, nl2br, "
        "convert_text_links, convert_text_link, fix_medium_images, use_noscript_figure_images, remove_tables, "
        "add_castopod_episode, add_hn_links_using_hack, add_hn_links_using_opener, add_youtube_video_from_id, "
        'base64_decode, parse_markdown, remove_clickbait, fix_ghost_cards, remove_img_blur_params, remove("p > a")'
    )
    for call in calls.split(", "):
        rules = compile_rules(RuleTexts(rewrite_rules=call))
        rewrite_entry(ParsedEntry(hash="0" * 64, title=text[:500], url=_URL, content=text), rules)
    return None


def _csv(read: Callable[[Any], Any], head: str) -> Callable[[str], object]:
    return lambda text: list(read(io.StringIO(head + "\n" + text, newline="")))


def _items(text: str) -> object:
    return list(JsonItems([text.encode(errors="replace")], "items").each(dict))


def _reader_items(text: str) -> object:
    return list(ReaderStreams(datetime(2026, 1, 1, tzinfo=UTC)).items([text.encode(errors="replace")]) or ())


def _newsblur(text: str) -> object:
    return list(newsblur.saved_stories([text.encode(errors="replace")]) or ())


def _miniflux(text: str) -> object:
    return miniflux._original("/proxy/" + text, in_html=True)


def _freshrss(text: str) -> object:
    row = {"id": 1, "id_feed": 1, "guid": "", "date": 1, "is_read": 1, "is_favorite": 1, "attributes": ""}
    return freshrss._entry(row | dict.fromkeys(("link", "title", "author", "tags", "content"), text), labels=())


def _cookie(text: str) -> object:
    return _request(cookie=text).cookies


def _links(text: str) -> object:
    return responses.parse_links(text, _URL)


def _freshness(text: str) -> object:
    return (
        responses.freshness_s(cache_control=text, expires=text, date=text, age=text, now=_NOW),
        responses.retry_after_s(text, _NOW),
        responses.http_date(text),
        responses.wants_no_validators(text),
    )


READERS: Final = (
    # Episodes.
    Reader("transcript", lambda text: read_transcript(text, url=_URL), (
        "%s", "WEBVTT\n\n%s", "WEBVTT\n\n1:00 --> 1:10\n%s", "1\n00:00:01,000 --> 00:00:02,000\n%s", "[%s", "<p>%s",
        '{"segments": [{"startTime": 1, "body": "%s"}]}',
    )),
    Reader("chapters", _bytes(read_chapters), ("%s", '{"chapters": [%s', '{"chapters": [{"startTime": "%s"}]}')),
    Reader("time of a chapter", parse_play_time, ("%s", "%s x", "1:%s")),
    # Feeds.
    Reader("feed", _feed, (
        "%s", "<rss>%s", "<rss><channel><item>%s", "<feed><entry>%s", '{"version": "https://jsonfeed.org/version/1", "items": [%s',
        _ITEM.format("<title>%s</title>"), _ITEM.format("<description><![CDATA[%s]]></description>"),
        _ITEM.format("<pubDate>%s</pubDate><author>%s</author>"), _ITEM.format("<link>%s</link><category>%s</category>"),
        _ITEM.format("<description>&lt;p&gt;%s&lt;/p&gt;</description>"), _ITEM.format("<link/>%s<media:keywords>%s</media:keywords>"),
        "<html><body>%s", _ATOM.format('<content type="xhtml"><div><b title="%s">x</b></div></content>'),
    ), 20_000),
    Reader("format of a document", _detect, ("%s", "<?xml %s", "<!DOCTYPE %s")),
    Reader("encoding of a document", _bytes(decode)),
    Reader("date", lambda text: (parse_date(text, _NOW), find_order([text], _NOW))),
    Reader("title", lambda text: (title_to_text(text), html_title_to_text(text)), ("%s", "a %s", "<b>%s</b>", "<p>%s</p>")),
    Reader("plain text of HTML", lambda text: (html_to_text(text), excerpt(text))),
    Reader("one line", plain_line, ("%s", "%s x")),
    Reader("authors", lambda text: join_names(text.split("\n"))),
    # Addresses.
    Reader("address", lambda text: (
        absolute_url(text, _URL), tidy_url(text), resolve_url(_URL, text), safe_href(text), scheme_of(text), host_of(text),
        canonical_url(text), strip_tracking(text), complete_url(text), feed_changes.normalize_scheme(text),
    ), ("%s", "http://%s", "http://a/%s", "http://a/?%s", "feed:%s", " %s")),
    Reader("address to fetch", parse_target, ("%s", "http://%s", "http://a/%s", "http://[%s")),
    Reader("address of a feed", lambda text: feed_changes.validate({"feed_url": text}), ("%s", "http://%s")),
    Reader("address of data", decode_data_url, ("%s", "data:image/png;base64,%s", "data:image/png%s")),
    Reader("address of a known site", lambda text: (known_site_feeds(text), common_locations(text)), ("http://a/%s", "http://youtube.com/%s", "http://github.com/a/%s", "http://reddit.com/r/%s", "http://a.tumblr.com/?%s")),
    # Articles.
    Reader("content", lambda text: clean_with_text(text, base_url=_URL), (
        "%s", "<p>%s", "<img srcset='%s'>", "<img src='%s'>", "<img src=x style='%s'>", "<a href='%s'>x</a>", "<p id='%s'>x",
        "<pre class='%s'>x", "<svg><path d='%s'/></svg>", "<iframe src='https://www.youtube.com/embed/%s'></iframe>", "<img width='%s' src=x>",
        "<p style='%s'>x", "<p style='font-weight:%s'>x", "<a href='#%s'>x</a><p id='%s'>y", "<a href='/posts/1#%s'>x</a><a name='%s'>y</a>",
        "<pre><div class='%s'>x", "<pre><b>%s", "<table><tr><td>1<td class=code>%s", "<button>%s", "<form><input>%s",
        "<picture><source srcset='%s'></picture>", "<img class='emoji %s' src=x>", "<script type='math/tex'>%s</script>",
        "<div style='white-space:pre'>%s", "<span class='MathJax'>%s",
    ), 20_000),
    Reader("content on a page", _shown, ("%s", "<p>%s", "<img src=x alt='%s'>", "<audio src='http://a/%s'></audio>"), 20_000),
    Reader("content within limits", truncate),
    Reader("candidates of a picture", candidates, ("%s", "a %s")),
    Reader("page", _page, ("%s", "<head>%s", "<a href='%s'>feed</a>", "<link rel='%s' href=x>", "<base href='%s'>"), 20_000),
    Reader(
        "article",
        _article,
        (
            "<p>%s",
            "<title>%s",
            "<meta %s",
            "<p class='%s'>text",
            "<img data-src='%s'>",
            "<noscript><p>%s",
            "<meta name='description' content='%s'><p>%s",
            "<script type='application/ld+json'>{\"headline\": 1, \"articleBody\": \"%s\"}</script><p>%s",
        ),
        10_000,
    ),
    Reader("rewritten entry", _rewritten, ("%s", "<p>%s"), 6_000),
    Reader("scraped page", lambda text: scrape_page(text, compile_rules(RuleTexts(scraper_rules="p > a, div"))), ("<p>%s",)),
    Reader("SVG", _bytes(sanitize_svg), ("%s", "<svg %s", '<svg xmlns="http://www.w3.org/2000/svg"><path d="%s"/></svg>', '<svg xmlns="http://www.w3.org/2000/svg"><style>%s</style><path/></svg>')),
    # Search.
    Reader("text to search", lambda text: (terms(text), terms(text, "ru"))),
    Reader("search", lambda text: (parse_query(text), parse_query(text, "de"))),
    Reader("highlights", _highlighted, ("%s", "aaa %s"), 12_000),
    # Headers of publishers, hubs and clients.
    Reader("cache headers", _freshness, ("%s", "max-age=%s", "max-age=\"%s")),
    Reader("links in a header", _links, ("%s", "<%s", "<http://a>; rel=%s", "<http://a>; rel=hub%s", '<http://a>; title="%s')),
    Reader("value of a header", clean_header),
    Reader("reason of a hub", lambda text: (subscriptions.display_text(text), subscriptions.is_genuine("a", b"", text))),
    Reader("cookies", _cookie, ("%s", "a=%s", 'a="%s"'), 12_000),
    Reader("languages", language_of_header),
    Reader("encodings", coding_for),
    Reader("user agent", browser_name),
    # Requests.
    Reader("fields of a form", lambda text: parse_pairs(text.encode(errors="replace"), 2_000), ("%s", "a=%s")),
    Reader("parts of a form", _form, ("%s", '--x\r\nContent-Disposition: form-data; name="%s', "--x\r\n%s", '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n%s')),
    Reader("type of a form", _form_type, ("%s", "multipart/form-data; boundary=%s", "multipart/form-data%s"), 12_000),
    Reader("JSON", _bytes(json_body.decode_object), ("%s", '{"a": "%s', '{"%s')),
    Reader("stream", lambda text: (streams.parse(text), streams.label_name(text), streams.moment(text)), ("%s", "user/%s", "user/-/label/%s")),
    Reader("hosts of fonts", lambda text: user_changes.validate_hosts(text, field="a"), ("%s", "a.%s")),
    Reader("stored message", lambda text: decode_message(text, text)),
    Reader("Markdown", to_markdown, ("%s", "<p>%s", '<a href="%s', "<ul><li>%s", "<pre>%s", "<td>%s")),
    Reader("text for agents", lambda text: (fences.readable(text), fences.one_line(text, 300)), ("http://%s", "http://a/?%s", "http://a/?token=%s", "http://a@%s")),
    Reader("log line", without_secrets, ("http://%s", "http://a/?token%s", "http://a@%s", "http://a/?%s")),
    # Rules and integrations.
    Reader("calls in rewrite rules", lambda text: read_calls(text, field="a", errors=RuleErrors()), ("%s", 'replace("%s', 'replace("a"|"b"), %s'), 10_000),
    # Each unknown name is compared with the known ones, for a suggestion.
    Reader("rewrite rules", parse_rewrites, ("%s", 'replace("%s'), 2_000),
    Reader("address rule", lambda text: parse_url_rewrite(text, field="a"), ("%s", 'rewrite("a"|"%s")', "rewrite(%s"), 10_000),
    Reader("filters", lambda text: (parse_filters(text, field="a"), parse_entry_list(text, field="a")),
        ("%s", "EntryTitle=%s"), 10_000),
    Reader("selector", validate_selector, ("%s", "a[%s", "a:not(%s", "a > %s"), 10_000),
    Reader("template", lambda text: check_template(text, field="a"), ("%s", "{{%s", "{{url|%s")),
    Reader("headers of an integration", lambda text: custom.check(custom.Settings(headers=text))),
    Reader("tags and services", lambda text: (split_tags(text), service_urls(text))),
    # Imported files.
    Reader("OPML", _bytes(opml.read), (
        "%s", "<opml>%s", "<opml><body>%s</body></opml>", "<opml><body><outline text='%s' xmlUrl='http://a'/></body></opml>",
        "<opml><body><outline xmlUrl='%s'/></body></opml>",
    )),
    Reader("JSON items", _items, ("%s", '{"items": [%s', '{"items": [{"a": "%s', '[{"a": %s')),
    Reader("Google Reader items", _reader_items, ('{"items": [{"title": "%s"}]}', '{"items": [{"categories": ["user/%s"]}]}')),
    Reader("NewsBlur", _newsblur, ('{"stories": [{"story_title": "%s"}]}',)),
    Reader("Pocket", _csv(saved_lists.read_pocket, "title,url,time_added,tags,status"), ("%s", "a,b,1,%s,unread", 'a,b,1,"%s', "a,b,%s,,")),
    Reader("Instapaper", _csv(saved_lists.read_instapaper, "URL,Title,Selection,Folder,Timestamp")),
    Reader("Miniflux", _miniflux, ("%s", "/proxy/%s", "http://a/proxy/%s")),
    Reader("FreshRSS", _freshrss),
    Reader("Feedbin", _bytes(lambda body: list(saved_lists.read_feedbin(body))), ("%s", '[{"url": "%s')),
    Reader("Omnivore", _bytes(lambda body: list(saved_lists.read_omnivore(body, lambda _: ""))), ("%s", '[{"url": "%s')),
)  # fmt: skip
