"""Feeds of well-known sites, recognized by the form of a URL.

Each result is a guess that is fetched before users see it. So one rule may serve all sites that run the same software.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import parse_qs, quote, unquote, urlsplit

import msgspec
from msgspec import Struct

from tidings.base.text import name_set
from tidings.content.discovery.candidates import FeedCandidate


class SiteUrl(Struct, frozen=True):
    """The parts of a URL that decide where a site has its feeds."""

    origin: str
    host: str
    """In lower case, without `www.` and similar labels."""
    path: str
    """Without a final slash."""
    query: str

    @property
    def segments(self) -> list[str]:
        return [part for part in self.path.split("/") if part]

    def parameter(self, name: str) -> str:
        return parse_qs(self.query).get(name, [""])[0]


SiteRule = Callable[[SiteUrl], Iterable[tuple[str, str]]]

# Paths on GitHub that are not names of users.
_NOT_GITHUB_USERS: Final = name_set("""
    about apps codespaces collections contact customer-stories enterprise events explore features issues join login
    marketplace new notifications orgs organizations pricing pulls readme search security sessions settings signup
    site sponsors stars team topics trending
""")
_APPLE_PODCASTS: Final = frozenset({"podcasts.apple.com", "itunes.apple.com"})
_YOUTUBE_FEED: Final = "https://www.youtube.com/feeds/videos.xml"
_YOUTUBE_CHANNEL: Final = re.compile(r"UC[\w-]{22}")
_YOUTUBE_CHANNEL_ON_PAGE: Final = re.compile(
    r"""itemprop="(?:identifier|channelId)"\s+content="(UC[\w-]{22})"|"(?:externalId|channelId)"\s*:\s*"(UC[\w-]{22})\""""
)
# The page of a podcast at Apple has its data as JSON, in which slashes may be escaped.
_APPLE_FEED_ON_PAGE: Final = re.compile(r'"feedUrl"\s*:\s*"(https?:[^"<>\s]{1,2000})"')


def known_site_feeds(url: str, page: str = "") -> list[FeedCandidate]:
    """Return the feeds of a page on a well-known site.

    page: its source, from which YouTube's channel id and the feed of a podcast at Apple are read.
    """
    site = _parse_url(url)
    if site is None:
        return []
    candidates: dict[str, FeedCandidate] = {}
    if site.host == "youtube.com" and page:
        for channel in _YOUTUBE_CHANNEL_ON_PAGE.finditer(page):
            _add(candidates, _youtube_channel(channel[1] or channel[2]))
            break
    if site.host in _APPLE_PODCASTS and (feed := _APPLE_FEED_ON_PAGE.search(page)):
        # Other podcasts that the page recommends come after its own.
        _add(candidates, [(_unescaped(feed[1]), "Podcast")])
    site_rule = _BY_HOST.get(site.host) or _BY_HOST.get(_wildcard_host(site.host)) or _by_software
    _add(candidates, site_rule(site))
    return list(candidates.values())


def _unescaped(text: str) -> str:
    """Return the text of a JSON string, without its quotes; as it is if it cannot be read."""
    try:
        return msgspec.json.decode(f'"{text}"', type=str)
    except msgspec.DecodeError:
        return text


def _add(candidates: dict[str, FeedCandidate], suggested: Iterable[tuple[str, str]]) -> None:
    for url, title in suggested:
        candidates.setdefault(url, FeedCandidate(url, title))


def _parse_url(url: str) -> SiteUrl | None:
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return None
    if not host:
        return None
    host = re.sub(r"^(?:www|m|mobile|old|new|np|music)\.(?=[^.]+\.)", "", host)
    origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    return SiteUrl(origin, host, parts.path.rstrip("/"), parts.query)


def _wildcard_host(host: str) -> str:
    """Return the last two labels with a star before them: alice.tumblr.com is `*.tumblr.com`."""
    return "*." + ".".join(host.split(".")[-2:])


def _youtube(site: SiteUrl) -> Iterable[tuple[str, str]]:
    playlist = site.parameter("list")
    if playlist and site.path in ("/watch", "/playlist"):
        yield f"{_YOUTUBE_FEED}?playlist_id={quote(playlist)}", "Playlist"
    match site.segments:
        case ["channel", channel, *_] if _YOUTUBE_CHANNEL.fullmatch(channel):
            yield from _youtube_channel(channel)
        case ["user", user, *_]:
            yield f"{_YOUTUBE_FEED}?user={user}", "Channel"


def _youtube_channel(channel: str) -> Iterable[tuple[str, str]]:
    """Yield the feeds of a channel; lists of its uploads have the channel's id with other first letters."""
    rest = channel[2:]
    yield f"{_YOUTUBE_FEED}?channel_id={channel}", "Channel: everything"
    yield f"{_YOUTUBE_FEED}?playlist_id=UULF{rest}", "Channel: videos"
    yield f"{_YOUTUBE_FEED}?playlist_id=UUSH{rest}", "Channel: short videos"
    yield f"{_YOUTUBE_FEED}?playlist_id=UULV{rest}", "Channel: live streams"


def _reddit(site: SiteUrl) -> Iterable[tuple[str, str]]:
    if site.segments[:1] in (["r"], ["user"], ["u"], ["domain"]) and len(site.segments) > 1:
        query = f"?{site.query}" if site.query else ""
        kind = "Comments" if "comments" in site.segments else "/".join(site.segments[:2])
        yield f"https://www.reddit.com{site.path}/.rss{query}", kind
        if "comments" in site.segments:
            yield f"https://www.reddit.com/{'/'.join(site.segments[:2])}/.rss", "/".join(site.segments[:2])
    elif not site.segments:
        yield "https://www.reddit.com/.rss", "Front page"


def _github(site: SiteUrl) -> Iterable[tuple[str, str]]:
    home = "https://github.com"
    match site.segments:
        case [user] | ["orgs", user, *_] if user.lower() not in _NOT_GITHUB_USERS:
            yield f"{home}/{user}.atom", f"Activity of {user}"
        case [owner, repository, *rest] if owner.lower() not in _NOT_GITHUB_USERS:
            name = repository.removesuffix(".git")
            base = f"{home}/{owner}/{name}"
            if rest[:1] in (["commits"], ["tree"], ["blob"]) and len(rest) > 1:
                branch = "/".join(rest[1:])
                yield f"{base}/commits/{branch}.atom", f"Commits of {owner}/{name}: {branch}"
            if rest[:1] in (["discussions"], ["wiki"]):
                yield f"{base}/{rest[0]}.atom", f"{rest[0].capitalize()} of {owner}/{name}"
            # The page's own feed first; sorting keeps the order of the others.
            for kind in sorted(("releases", "commits", "tags"), key=lambda kind: rest[:1] != [kind]):
                yield f"{base}/{kind}.atom", f"{kind.capitalize()} of {owner}/{name}"


def _gitlab(site: SiteUrl) -> Iterable[tuple[str, str]]:
    project = site.path.partition("/-/")[0]
    if len(project.split("/")) == 2:
        yield f"{site.origin}{project}.atom", f"Activity of {project[1:]}"
    elif len(project.split("/")) > 2:
        yield f"{site.origin}{project}/-/releases.atom", f"Releases of {project[1:]}"
        yield f"{site.origin}{project}/-/commits/HEAD?format=atom", f"Commits of {project[1:]}"
        yield f"{site.origin}{project}/-/tags?format=atom", f"Tags of {project[1:]}"
        yield f"{site.origin}{project}.atom", f"Activity of {project[1:]}"


def _forgejo(site: SiteUrl) -> Iterable[tuple[str, str]]:
    match site.segments:
        case [user]:
            yield f"{site.origin}/{user}.rss", f"Activity of {user}"
        case [owner, repository, *rest]:
            base = f"{site.origin}/{owner}/{repository}"
            if rest[:2] in (["src", "branch"], ["commits", "branch"]) and len(rest) > 2:
                yield f"{base}/rss/branch/{'/'.join(rest[2:])}", f"Commits of {owner}/{repository}: {unquote(rest[2])}"
            yield f"{base}/releases.rss", f"Releases of {owner}/{repository}"
            yield f"{base}/tags.rss", f"Tags of {owner}/{repository}"
            yield f"{base}.rss", f"Activity of {owner}/{repository}"


def _bluesky(site: SiteUrl) -> Iterable[tuple[str, str]]:
    match site.segments:
        case ["profile", name, *_]:
            yield f"https://bsky.app/profile/{name}/rss", f"Posts of {unquote(name)}"


def _wikipedia(site: SiteUrl) -> Iterable[tuple[str, str]]:
    index = f"{site.origin}/w/index.php"
    title = site.path.removeprefix("/wiki/") if site.path.startswith("/wiki/") else site.parameter("title")
    if title and not unquote(title).startswith("Special:"):
        yield f"{index}?title={title}&action=history&feed=atom", f"Changes of {unquote(title).replace('_', ' ')}"
    yield f"{index}?title=Special:RecentChanges&feed=atom", "Recent changes"


def _medium(site: SiteUrl) -> Iterable[tuple[str, str]]:
    match site.segments:
        case [first, *_] if site.host == "medium.com":
            yield f"https://medium.com/feed/{first}", first
        case _:
            yield f"{site.origin}/feed", ""


def _stack_exchange(site: SiteUrl) -> Iterable[tuple[str, str]]:
    match site.segments:
        case ["questions", "tagged", tags, *_]:
            yield f"{site.origin}/feeds/tag/{tags}", f"Questions tagged {unquote(tags)}"
        case ["questions", number, *_] if number.isdigit():
            yield f"{site.origin}/feeds/question/{number}", "Answers"
        case ["users", number, *_] if number.isdigit():
            yield f"{site.origin}/feeds/user/{number}", "User"
        case _:
            yield f"{site.origin}/feeds", "Newest questions"


def _vimeo(site: SiteUrl) -> Iterable[tuple[str, str]]:
    match site.segments:
        case ["channels" | "groups", name, *_]:
            yield f"https://vimeo.com/{site.segments[0]}/{name}/videos/rss", name
        case [user] if not user.isdigit():
            yield f"https://vimeo.com/{user}/videos/rss", user


def _arxiv(site: SiteUrl) -> Iterable[tuple[str, str]]:
    match site.segments:
        case ["list", subject, *_]:
            yield f"https://rss.arxiv.org/rss/{subject}", f"arXiv: {subject}"


def _steam(site: SiteUrl) -> Iterable[tuple[str, str]]:
    match site.segments:
        case ["app", number, *_] if number.isdigit():
            yield f"https://store.steampowered.com/feeds/news/app/{number}/", "News"


def _at_feed(site: SiteUrl) -> Iterable[tuple[str, str]]:
    yield f"{site.origin}/feed", ""


def _tumblr(site: SiteUrl) -> Iterable[tuple[str, str]]:
    match site.segments:
        case ["blog", "view", name, *_] | ["blog", name, *_]:
            pass
        case ["tagged" | "search" | "explore" | "dashboard" | "login" | "register" | "settings" | "privacy", *_]:
            return
        case [name, *_]:
            pass
        case _:
            return
    if re.fullmatch(r"[\w-]{1,32}", name, re.ASCII):
        yield f"https://{name.lower()}.tumblr.com/rss", name


def _tumblr_blog(site: SiteUrl) -> Iterable[tuple[str, str]]:
    match site.segments:
        case ["tagged", tag, *_]:
            yield f"{site.origin}/tagged/{tag}/rss", f"Posts tagged {unquote(tag)}"
    yield f"{site.origin}/rss", ""


def _blogger(site: SiteUrl) -> Iterable[tuple[str, str]]:
    yield f"{site.origin}/feeds/posts/default", ""


# Software that runs on many hosts: pattern of the path, path of the feed, title.
_SOFTWARE: Final = tuple(
    (re.compile(path), feed, title)
    for path, feed, title in (
        (r"/(@[^/]+)", r"/\1.rss", r"Posts of \1"),  # Mastodon and compatible software
        (r"/users/([^/]+)", r"/users/\1.rss", r"Posts of \1"),
        (r"/tags/([^/]+)$", r"/tags/\1.rss", r"Posts tagged \1"),
        (r"/home$", "/api/v1/timelines/home", "Home"),  # only with the token of an account
        (r"/lists/(\d+)$", r"/api/v1/timelines/list/\1", "List"),
        (r"/c/([^/]+)/videos", r"/feeds/videos.xml?videoChannelName=\1", r"Videos of \1"),  # PeerTube
        (r"/a/([^/]+)", r"/feeds/videos.xml?accountName=\1", r"Videos of \1"),
        (r"/([cu])/([^/]+)$", r"/feeds/\1/\2.xml", r"\2"),  # Lemmy
        (r"/([ct]/[^/]+/\d+)", r"/\1.rss", ""),  # Discourse
        (r"/(latest|top|new|hot)$", r"/\1.rss", ""),
        (r"/([^/]+/[^/]+)/(?:releases|tags)$", r"/\1/releases.rss", r"Releases of \1"),  # Forgejo and Gitea
        (r"/([^/]+/[^/]+)/(?:src|commits)/branch/([^/]+)", r"/\1/rss/branch/\2", r"Commits of \1: \2"),
        (r"/(~[^/]+/[^/]+)", r"/\1/refs/rss.xml", "Releases"),  # sourcehut
        (r"/(~[^/]+/[^/]+)", r"/\1/log/rss.xml", "Commits"),
    )
)


def _by_software(site: SiteUrl) -> Iterable[tuple[str, str]]:
    if site.host.startswith("gitlab.") or "/-/" in site.path:
        yield from _gitlab(site)
    elif site.path.startswith("/wiki/") or site.path == "/w/index.php":
        yield from _wikipedia(site)
    for path, feed, title in _SOFTWARE:
        if match := path.match(site.path):
            yield site.origin + match.expand(feed), unquote(match.expand(title))


_BY_HOST: Final[dict[str, SiteRule]] = {
    "youtube.com": _youtube,
    "reddit.com": _reddit,
    "github.com": _github,
    "gist.github.com": lambda site: ((f"https://gist.github.com/{user}.atom", user) for user in site.segments[:1]),
    "gitlab.com": _gitlab,
    "codeberg.org": _forgejo,
    "gitea.com": _forgejo,
    "bsky.app": _bluesky,
    "medium.com": _medium,
    "*.medium.com": _medium,
    "stackoverflow.com": _stack_exchange,
    "serverfault.com": _stack_exchange,
    "superuser.com": _stack_exchange,
    "*.stackexchange.com": _stack_exchange,
    "vimeo.com": _vimeo,
    "arxiv.org": _arxiv,
    "store.steampowered.com": _steam,
    "*.substack.com": _at_feed,
    "*.wordpress.com": _at_feed,
    "tumblr.com": _tumblr,
    "*.tumblr.com": _tumblr_blog,
    "*.blogspot.com": _blogger,
    **dict.fromkeys(("*.wikipedia.org", "*.wiktionary.org", "*.wikimedia.org", "*.mediawiki.org"), _wikipedia),
}
