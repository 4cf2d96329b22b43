"""Attributes: which values are kept, and how they are written; above all URLs, and the ids that links lead to.

The URLs of a document become absolute, of an allowed kind, and without tracking; they are cached.

Ids get a prefix that separates them from the ids of the page that shows the article. An element with an id is a
property of `document` and `window` with that name, and can hide what a script expects there (DOM clobbering;
https://html.spec.whatwg.org/multipage/nav-history-apis.html#named-access-on-the-window-object). With a prefix that our
pages do not use, links within an article work, and no other name is affected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache

from tidings.base.url_schemes import LINK_SCHEMES, scheme_of
from tidings.content.urls import host_of, resolve_url, strip_tracking

# Ids

PREFIX = "user-content-"

_TAG = re.compile(r"<[a-z][^>]*>")
_OWN_NAME = re.compile(rf' (id="|href="#)(?!{PREFIX}|")')


def prefix_id(name: str) -> str:
    """Return an id, or the part of a URL after #, with the prefix; unchanged if it has the prefix already."""
    return name if name.startswith(PREFIX) else PREFIX + name


def prefix_ids(html: str) -> str:
    """Return clean HTML in which each id and each link to one has the prefix.

    html: as `clean` writes it, in this version or an older one that kept ids as they were. Angle brackets and quotes
    inside of values and texts are escaped there, so that tags and their attributes can be told without parsing.
    """
    if ' id="' not in html and ' href="#' not in html:
        return html
    return _TAG.sub(lambda tag: _OWN_NAME.sub(rf" \1{PREFIX}", tag[0]), html)


# URLs

# Share buttons, advertisements and counters: host (with its subdomains) and prefixes of the path.
_UNWANTED: dict[str, tuple[str, ...]] = {
    "api.flattr.com": ("",),
    "facebook.com": ("/sharer.php", "/sharer/sharer.php"),
    "feeds.feedburner.com": ("",),
    "feedsportal.com": ("",),
    "linkedin.com": ("/shareArticle",),
    "pinterest.com": ("/pin/create/button/",),
    "stats.wordpress.com": ("",),
    "pixel.wp.com": ("",),
    "twitter.com": ("/intent/tweet", "/share"),
    "x.com": ("/intent/tweet", "/share"),
}

_WEB = ("https://", "http://")
_PATH = re.compile(r"https?://[^/?#]*([^?#]*)")

# Types of `data:` URLs in <img>. SVG is safe only there: scripts do not run in images.
_IMAGE_TYPES = ("avif", "apng", "png", "svg", "svg+xml", "jpg", "jpeg", "gif", "webp")
_IMAGE_DATA = tuple(f"data:image/{kind}{end}" for kind in _IMAGE_TYPES for end in (";", ","))
# The beginning of every GIF of one by one pixel.
_PIXEL_DATA = "data:image/gif;base64,R0lGODlhAQABA"


class LinkCleaner:
    """Resolves the URLs of one document and removes tracking from them.

    base_url: the base of relative URLs. page_url: the document's own address, if it is another one.
    hosts: see `strip_tracking`.
    max_url_chars: maximum total length of the URLs of one document. Without this limit, a small document of short
    relative URLs could become a huge one.
    """

    __slots__ = ("_base_url", "_chars_left", "_hosts", "_own", "_page_url", "_resolved")

    def __init__(self, base_url: str, hosts: Collection[str] = (), *, max_url_chars: int, page_url: str = "") -> None:
        self._base_url = base_url
        self._page_url = page_url
        self._own: set[str] | None = None
        self._hosts = hosts
        self._chars_left = max_url_chars
        self._resolved: dict[str, str] = {}

    def link_url(self, value: str) -> str:
        """Return the URL for `href` and `cite`: any allowed scheme; "" for the others.

        A link within the article gets the prefix of its target's id.
        """
        if value.startswith("#"):
            return "#" + prefix_id(value[1:]) if value != "#" else value
        url = self._resolve(value)
        return url if url.startswith(_WEB) or scheme_of(url) in LINK_SCHEMES else ""

    def own_fragment(self, url: str) -> str:
        """Return what follows the # of a resolved URL of the document itself, "" for any other URL.

        Source: RFC 3986, section 4.4. `http`, `www.` and a slash at the end do not make it another document.
        """
        location, _, fragment = url.partition("#")
        if not fragment:
            return ""
        if self._own is None:
            # Few documents have a link with a fragment.
            urls = (self._base_url, self._page_url)
            self._own = {_without_form(strip_tracking(url, hosts=self._hosts)) for url in urls if url}
        return fragment if _without_form(location) in self._own else ""

    def media_url(self, value: str) -> str:
        """Return the URL of a resource that the page loads: http and https only; else ""."""
        url = self._resolve(value)
        return url if url.startswith(_WEB) else ""

    def image_url(self, value: str) -> str:
        """Return the URL for `src` of an image, which may also be a `data:` URL."""
        if ":" in value and value[:5].lower() == "data:":
            return image_data_url(value)
        return self.media_url(value)

    def _resolve(self, value: str) -> str:
        url = self._resolved.get(value)
        if url is None:
            url = resolve_url(self._base_url, value)
            # All unwanted hosts are below `.com`.
            if ".com" in url and _is_unwanted(url):
                url = ""
            elif "?" in url and url.startswith(_WEB):
                url = strip_tracking(url, hosts=self._hosts)
            self._resolved[value] = url
        self._chars_left -= len(url)
        return url if self._chars_left >= 0 else ""


def _without_form(url: str) -> str:
    """Return a web URL without what differs between the forms of an address; other text as it is."""
    return url.partition("#")[0].removeprefix("https://").removeprefix("http://").removeprefix("www.").rstrip("/")


def image_data_url(value: str) -> str:
    """Return a `data:` URL of an image without blanks; "" for any other value and for the invisible pixel."""
    kind, comma, content = value.partition(",")
    kind = "".join(kind.split()).lower()
    if not (kind + comma).startswith(_IMAGE_DATA):
        return ""
    url = kind + comma + "".join(content.split("\n")).replace("\r", "").replace("\t", "").strip()
    return "" if url.startswith(_PIXEL_DATA) else url


def _is_unwanted(url: str) -> bool:
    prefixes = _unwanted_paths(host_of(url))
    if not prefixes:
        return False
    path = _PATH.match(url)
    return path is not None and any(_starts_path(path[1], prefix) for prefix in prefixes)


@lru_cache(maxsize=1_024)
def _unwanted_paths(host: str) -> tuple[str, ...]:
    """Return the unwanted path prefixes of a host. Cached, because few hosts have most of the links."""
    labels = host.split(".")
    return _UNWANTED.get(".".join(labels[-2:])) or _UNWANTED.get(".".join(labels[-3:])) or ()


def _starts_path(path: str, prefix: str) -> bool:
    """Return whether the prefix matches whole segments: `/share` does not match `/shareholders`."""
    return path.startswith(prefix) and (prefix[-1:] in {"", "/"} or path[len(prefix) :][:1] in {"", "/"})


# Checks

Attributes = Mapping[str, str | None]
# Returns the value to write, or None to leave the attribute out.
AttributeCheck = Callable[[str, LinkCleaner], str | None]

_INTEGER = re.compile(r"-?[0-9]{1,9}")
_SPAN = re.compile(r"[1-9][0-9]{0,3}")
_LENGTH = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,3})?%?")
_LANGUAGE = re.compile(r"[a-zA-Z]{1,8}(?:[-_][a-zA-Z0-9]{1,8}){0,6}")
_LIST_TYPE = re.compile(r"[1aAiI]")
_CODE_LANGUAGE = re.compile(r"lang(?:uage)?-[a-zA-Z0-9_+#.-]{1,40}")
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")


def text(value: str, _: LinkCleaner) -> str | None:
    return value or None


def identifier(value: str, _: LinkCleaner) -> str | None:
    """Keeps an id, with a prefix."""
    return prefix_id(value) if value else None


def always(_: str, __: LinkCleaner) -> str | None:
    """Keeps a boolean attribute, whose presence is its meaning."""
    return ""


def link(value: str, links: LinkCleaner) -> str | None:
    return links.link_url(value) or None


def matching(pattern: re.Pattern[str]) -> AttributeCheck:
    """Return a check that keeps values that match the whole pattern, without surrounding blanks."""

    fits = pattern.fullmatch

    def check(value: str, _: LinkCleaner) -> str | None:
        value = value.strip()
        return value if fits(value) else None

    return check


def one_of(*words: str) -> AttributeCheck:
    """Return a check that keeps one of a few words, in lower case."""

    def check(value: str, _: LinkCleaner) -> str | None:
        value = value.strip().lower()
        return value if value in words else None

    return check


def code_language(value: str, _: LinkCleaner) -> str | None:
    """Keeps only the class that names the language for syntax highlighting."""
    for word in value.split():
        if _CODE_LANGUAGE.fullmatch(word):
            return "language-" + word.partition("-")[2]
    return None


integer = matching(_INTEGER)
span = matching(_SPAN)
length = matching(_LENGTH)
list_type = matching(_LIST_TYPE)
language = matching(_LANGUAGE)
direction = one_of("ltr", "rtl", "auto")

# An element can only be hidden if it has one of these.
HIDING_ATTRIBUTES = frozenset({"hidden", "style"})


def is_hidden(attributes: Attributes) -> bool:
    """Return whether the publisher's page hides the element.

    `aria-hidden` does not count: it is set on decorative links with images worth showing.
    """
    if "hidden" in attributes:
        return True
    style = attributes.get("style")
    if style:
        style = style.lower()
        # Two fast tests avoid the slow one for most styles.
        if ("none" in style or "hidden" in style) and _HIDING.search(style):
            return True
    return False


def escape_text(value: str) -> str:
    if "&" in value:
        value = value.replace("&", "&amp;")
    if "<" in value:
        value = value.replace("<", "&lt;")
    if ">" in value:
        value = value.replace(">", "&gt;")
    if "\r" in value:
        # The parser only returns it for a character reference; parsed again, it would become a line feed.
        value = value.replace("\r", "\n")
    return value


def escape_value(value: str) -> str:
    """Return the value for an attribute in double quotes, without angle brackets, which simple tag parsers misread."""
    if value.isalnum():
        return value
    if "&" in value or "<" in value or ">" in value or "\r" in value:
        value = escape_text(value)
    return value.replace('"', "&quot;") if '"' in value else value


def start_tag(name: str, attributes: Attributes, checks: Mapping[str, AttributeCheck], links: LinkCleaner) -> str:
    """Return the start tag with the attributes that have a check and pass it."""
    return open_tag(name, attributes, checks, links) + ">"


def open_tag(name: str, attributes: Attributes, checks: Mapping[str, AttributeCheck], links: LinkCleaner) -> str:
    """Return the same without the final `>`, so that more attributes can follow."""
    written = f"<{name}"
    for key, value in attributes.items():
        check = checks.get(key)
        if check is not None:
            kept = check(value or "", links)
            if kept is not None:
                written += f' {key}="{escape_value(kept)}"'
    return written
