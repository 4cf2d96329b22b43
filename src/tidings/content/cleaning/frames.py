"""Players of known hosts, each in a sandboxed frame, and what `object`, `embed` and the elements of AMP pages show."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from selectolax.lexbor import LexborNode

from tidings.content.cleaning import attribute_checks
from tidings.content.cleaning.attribute_checks import Attributes, LinkCleaner, escape_value
from tidings.content.cleaning.writer import CleaningPolicy
from tidings.content.urls import host_of

# Host without `www.` -> whether its player needs its own origin (storage, cookies) to start. Such a frame can read
# only its own data, because the hosts differ. The other frames get an opaque origin.
PLAYERS: dict[str, bool] = {
    "bandcamp.com": False,
    "cdn.embedly.com": True,  # shows players of other hosts, which inherit its sandbox
    "dailymotion.com": True,
    "framatube.org": True,
    "open.spotify.com": True,
    "player.bilibili.com": True,
    "player.twitch.tv": True,
    "player.vimeo.com": True,
    "soundcloud.com": True,
    "vk.com": True,
    "w.soundcloud.com": True,
    "youtube-nocookie.com": True,
    "youtube.com": True,
}

_SANDBOX = "allow-scripts allow-popups allow-popups-to-escape-sandbox"
_SANDBOX_OWN_ORIGIN = "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox"
_YOUTUBE = frozenset({"youtube.com", "youtube-nocookie.com"})
# YouTube does not play without a referrer.
_YOUTUBE_REFERRER = ' referrerpolicy="strict-origin-when-cross-origin"'

_ORIGIN = re.compile(r"https?://[^/?#]*")
_YOUTUBE_EMBED = re.compile(r"^https://[^/?#]*/embed/")

_CHECKS = {
    "width": attribute_checks.length,
    "height": attribute_checks.length,
    "frameborder": attribute_checks.matching(re.compile("[01]")),
    "allowfullscreen": attribute_checks.always,
    "title": attribute_checks.text,
}


def iframe_html(attributes: Attributes, src: str, links: LinkCleaner, policy: CleaningPolicy) -> str:
    """Return the whole `iframe` element, "" for a host that is not allowed.

    src: as written, after lazy loading is resolved.
    """
    url = links.media_url(src) if src else ""
    host = host_of(url).removeprefix("www.")
    if not host or host == policy.own_host.removeprefix("www."):
        return ""
    if host in PLAYERS:
        url, own_origin = _privacy_url(_with_plain_host(url), host, policy), PLAYERS[host]
    elif host in policy.embed_hosts:
        # Most players need it, and the operator allows this host.
        own_origin = True
    else:
        return ""
    start = attribute_checks.open_tag("iframe", attributes, _CHECKS, links)
    sandbox = _SANDBOX_OWN_ORIGIN if own_origin else _SANDBOX
    referrer = _YOUTUBE_REFERRER if host_of(url).removeprefix("www.") in _YOUTUBE else ""
    return f'{start} src="{escape_value(url)}" sandbox="{sandbox}" loading="lazy"{referrer}></iframe>'


def _with_plain_host(url: str) -> str:
    """Return the URL with https, without user name and port, which could lead to another server."""
    start = _ORIGIN.match(url)
    rest = url[start.end() :] if start else ""
    return f"https://{host_of(url)}{'' if rest.startswith('/') else '/'}{rest}"


def _privacy_url(url: str, host: str, policy: CleaningPolicy) -> str:
    """Return the URL of the same player in the variant in which its host does not track viewers."""
    if host in _YOUTUBE:
        return _YOUTUBE_EMBED.sub(lambda _: policy.youtube_embed, url)
    if host == "player.vimeo.com" and "/video/" in url and not re.search(r"[?&]dnt=", url):
        location, mark, fragment = url.partition("#")
        return f"{location}{'&' if '?' in location else '?'}dnt=1{mark}{fragment}"
    return url


# Plugins and AMP, as ordinary HTML

_IMAGE_FILE = re.compile(r"\.(?:avif|gif|jpe?g|png|svg|webp)(?:[?#]|$)", re.IGNORECASE)
_VIDEO_FILE = re.compile(r"\.(?:mp4|m4v|ogv|webm)(?:[?#]|$)", re.IGNORECASE)
_AUDIO_FILE = re.compile(r"\.(?:aac|flac|m4a|mp3|oga|ogg|opus|wav)(?:[?#]|$)", re.IGNORECASE)
# Flash players of YouTube have had another path than today's player.
_YOUTUBE_FLASH = re.compile(r"^(https?:)?//(?:www\.)?youtube(?:-nocookie)?\.com/v/([A-Za-z0-9_-]+)", re.IGNORECASE)

# AMP element -> (attribute with the id of the video, beginning of the URL of the player).
_AMP_PLAYERS: Final = {
    "amp-dailymotion": ("data-videoid", "https://www.dailymotion.com/embed/video/"),
    "amp-vimeo": ("data-videoid", "https://player.vimeo.com/video/"),
    "amp-youtube": ("data-videoid", "https://www.youtube.com/embed/"),
}


def amp_player_url(name: str, attributes: Attributes) -> str:
    """Return the URL of the player of an AMP element; "" for other elements, or without an id."""
    attribute, prefix = _AMP_PLAYERS.get(name, ("", ""))
    id_ = (attributes.get(attribute) or "").strip()
    return prefix + quote(id_, safe="") if id_ else ""


def source_of(node: LexborNode) -> str:
    """Return the URL that an `object` or `embed` element loads, as written; "" if it has none."""
    attributes = node.attributes
    source = attributes.get("data") or attributes.get("src") or ""
    child = node.first_child
    while child is not None and not source.strip():
        if child.tag == "param" and (child.attributes.get("name") or "").strip().lower() in ("movie", "src", "url"):
            source = child.attributes.get("value") or ""
        child = child.next
    source = source.strip()
    flash = _YOUTUBE_FLASH.match(source)
    return f"https://www.youtube.com/embed/{flash[2]}" if flash else source


def element_html(source: str, attributes: Attributes, links: LinkCleaner, policy: CleaningPolicy) -> str:
    """Return the whole element for what `source` is: an image, a video, audio or a known player; else ""."""
    kind = (attributes.get("type") or "").strip().lower()
    if kind.startswith("image/") or (not kind and _IMAGE_FILE.search(source)):
        url = links.image_url(source)
        return f'<img src="{escape_value(url)}" loading="lazy">' if url else ""
    for name, files in (("video", _VIDEO_FILE), ("audio", _AUDIO_FILE)):
        if kind.startswith(f"{name}/") or (not kind and files.search(source)):
            url = links.media_url(source)
            return f'<{name} src="{escape_value(url)}" controls=""></{name}>' if url else ""
    return iframe_html(attributes, source, links, policy)
