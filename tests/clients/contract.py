"""The resources as the contract prints them. What a client needs beyond that stands beside the client."""

from __future__ import annotations

from clients.shapes import (
    entry_page,
    filled,
    flag,
    list_of,
    mapped,
    moment,
    nullable,
    record,
    small,
    text,
    whole,
)

ERROR = record(error_message=filled)

CATEGORY = record(id=small, user_id=small, title=text, hide_globally=flag)
COUNTED_CATEGORY = record(id=small, user_id=small, title=text, hide_globally=flag, feed_count=whole, total_unread=whole)

FEED = record(
    id=small,
    user_id=small,
    title=text,
    site_url=text,
    feed_url=filled,
    checked_at=moment,
    next_check_at=moment,
    etag_header=text,
    last_modified_header=text,
    parsing_error_message=text,
    parsing_error_count=whole,
    scraper_rules=text,
    rewrite_rules=text,
    urlrewrite_rules=text,
    blocklist_rules=text,
    keeplist_rules=text,
    crawler=flag,
    user_agent=text,
    cookie=text,
    username=text,
    password=text,
    disabled=flag,
    no_media_player=flag,
    ignore_http_cache=flag,
    allow_self_signed_certificates=flag,
    fetch_via_proxy=flag,
    hide_globally=flag,
    apprise_service_urls=text,
    category=CATEGORY,
    # Without an icon: null, or 0 for apps in a browser.
    icon=nullable(record(feed_id=small, icon_id=whole)),
)

ICON = record(id=small, data=filled, mime_type=filled)

ENCLOSURE = record(
    id=small, user_id=small, entry_id=small, url=text, mime_type=text, size=whole, media_progression=whole
)

ENTRY = record(
    id=small,
    user_id=small,
    feed_id=small,
    title=text,
    url=text,
    comments_url=text,
    author=text,
    content=text,
    hash=filled,
    published_at=moment,
    created_at=moment,
    changed_at=moment,
    status=filled,
    share_code=text,
    starred=flag,
    reading_time=whole,
    enclosures=list_of(ENCLOSURE, 0),
    tags=list_of(text, 0),
    feed=FEED,
)
ENTRIES = entry_page(ENTRY)

USER = record(
    id=small,
    username=filled,
    is_admin=flag,
    theme=filled,
    language=filled,
    timezone=filled,
    entry_sorting_direction=filled,
    stylesheet=text,
    google_id=text,
    openid_connect_id=text,
    entries_per_page=whole,
    keyboard_shortcuts=flag,
    show_reading_time=flag,
    entry_swipe=flag,
    last_login_at=nullable(moment),
)

VERSION = record(
    version=filled, commit=filled, build_date=filled, go_version=filled, compiler=filled, arch=filled, os=filled
)
COUNTERS = record(reads=mapped(whole), unreads=mapped(whole))
INTEGRATIONS = record(has_integrations=flag)
FEED_CREATED = record(feed_id=small)
IMPORTED = record(message=text)
ARTICLE = record(content=text)
DISCOVERED = list_of(record(url=filled, title=text, type=filled))
