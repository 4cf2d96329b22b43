"""What `object`, `embed` and the elements of AMP pages show, as ordinary HTML."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from selectolax.lexbor import LexborNode

from tidings.content.cleaning import frames
from tidings.content.cleaning.attribute_checks import Attributes, escape_value
from tidings.content.cleaning.links import LinkCleaner
from tidings.content.cleaning.policy import CleaningPolicy

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
    return frames.iframe_html(attributes, source, links, policy)
