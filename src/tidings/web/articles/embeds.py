"""Players in articles: players of other hosts load nothing before the user clicks; all players can be links instead."""

from __future__ import annotations

import html
import re
from urllib.parse import urlsplit

from tidings.web.language import _

# An empty iframe element, as the cleaner writes it.
_FRAME = re.compile(r'<iframe [^>]*?src="([^"]+)"[^>]*></iframe>')
_TITLE = re.compile(r'<iframe [^>]*?title="([^"]+)"')
# What YouTube calls every video in the code that it gives people to paste.
_NO_TITLE = "YouTube video player"
# An audio or video element with its alternatives, as the cleaner writes it: they are never nested.
_PLAYER = re.compile(r"<(audio|video)\b[^>]*>.*?</\1>", re.DOTALL)
_SOURCE = re.compile(r'<(?:audio|video|source)\b[^>]*? src="([^"]+)"')
# What people call the hosts of players.
_NAMES = {
    "bandcamp.com": "Bandcamp",
    "bilibili.com": "Bilibili",
    "dailymotion.com": "Dailymotion",
    "open.spotify.com": "Spotify",
    "soundcloud.com": "SoundCloud",
    "twitch.tv": "Twitch",
    "vimeo.com": "Vimeo",
    "vk.com": "VK",
    "w.soundcloud.com": "SoundCloud",
    "youtube-nocookie.com": "YouTube",
    "youtube.com": "YouTube",
}


def defer_players(content: str, *, poster: str = "") -> str:
    """Return cleaned HTML with each frame replaced by a link and a template element that keeps the frame.

    poster: URL of a picture that stands for the first player until the user clicks it.
    """
    if "<iframe" not in content:
        return content
    posters = iter([poster] if poster else [])
    return _FRAME.sub(lambda match: _link_to_player(match, next(posters, "")), content)


def link_players(content: str) -> str:
    """Return cleaned HTML with a link in place of each frame, audio and video element."""
    if "<iframe" not in content and "<audio" not in content and "<video" not in content:
        return content
    without_frames = _FRAME.sub(lambda match: _link(match[1], _label(match[1])), content)
    return _PLAYER.sub(lambda match: " ".join(map(_file_link, _SOURCE.findall(match[0]))), without_frames)


def _link_to_player(match: re.Match[str], poster: str) -> str:
    url, frame = match[1], match[0]
    title, name = _title(frame), _host_name(url)
    about = f'<b dir="auto">{title}</b>' if title else ""
    if " title=" not in frame:
        frame = frame.replace("<iframe ", f'<iframe title="{name}" ', 1)
    picture = f'<img src="{html.escape(poster)}" alt="" loading="lazy">' if poster else ""
    return (
        f'<span class="embed"><a href="{url}" target="_blank" rel="noopener noreferrer">{picture}'
        f"<span>{about}{_label(url)}</span></a><template>{frame}</template></span>"
    )


def _title(frame: str) -> str:
    """Return the title that the publisher gave to a frame, "" if that says nothing. frame, result: escaped."""
    found = _TITLE.match(frame)
    title = found[1].strip() if found else ""
    return "" if title == _NO_TITLE else title


def _label(url: str) -> str:
    """Return the text of the link to a player. url, result: escaped."""
    return html.escape(_("Play from %(host)s", host=html.unescape(_host_name(url))))


def _host_name(url: str) -> str:
    """Return what people call the host of a player. url, result: escaped."""
    host = (urlsplit(html.unescape(url)).hostname or "").removeprefix("www.").removeprefix("player.")
    return html.escape(_NAMES.get(host, host))


def _file_link(url: str) -> str:
    path = urlsplit(html.unescape(url)).path.rstrip("/")
    return _link(url, html.escape(path.rpartition("/")[2]) or _label(url))


def _link(url: str, label: str) -> str:
    """Return a link to a media file or player. url, label: escaped."""
    return f'<a href="{url}" rel="noopener noreferrer" referrerpolicy="no-referrer">{label}</a>'
