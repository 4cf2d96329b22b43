"""Frames: players of known hosts, each in a sandbox."""

from __future__ import annotations

import re

from tidings.content.cleaning import attribute_checks
from tidings.content.cleaning.attribute_checks import Attributes, escape_value
from tidings.content.cleaning.links import LinkCleaner
from tidings.content.cleaning.policy import CleaningPolicy
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
