"""Templates, and the names that every template can use.

url(path, **query)   the URL of a page of ours        asset(name)   of a file in `static/`
icon(name)           a drawing of `parts/icons.html`      when(instant) how long ago, or which day
_(…), ngettext(…)    words in the visitor's language      back          the page to return to
number(1234), size() written as the language does it      exact(instant), written(instant)  in full, in short
since(instant)       12 min. ago, for sentences           date(instant) always the day
lang, direction      of the visitor's language            user, device  who reads, and how (None, defaults)
hint(command, label) the attributes of a button that a key presses, too: its title
sidebar              feeds and counts (only of who is signed in)
problem              what was wrong with a form           notice        what the page before had to tell
url|page_link        a URL of a publisher as `href` or `src` may hold it, or ""
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

import jinja2
from babel.numbers import format_decimal
from jinja2 import (
    ChoiceLoader,
    Environment,
    FileSystemBytecodeCache,
    FileSystemLoader,
    PackageLoader,
    PrefixLoader,
    StrictUndefined,
)
from jinja2.bccache import Bucket
from jinja2.utils import Namespace
from markupsafe import Markup

from tidings import __version__
from tidings.base.url_schemes import safe_href
from tidings.domain.accounts.shortcuts import user_shortcuts
from tidings.web import language
from tidings.web.assets import Assets
from tidings.web.context import PageResponse, RequestContext
from tidings.web.devices import CHOICES
from tidings.web.label_colors import COLOR_NAMES
from tidings.web.message_translation import translated
from tidings.web.settings_menu import MenuItem
from tidings.web.shortcuts import key_hints, key_table, shown_key
from tidings.web.times import clock, date, exact, minutes, since, when, written

# Icons that point along the line, or show lines that begin at one side: mirrored where text runs from right to left.
# What plays, and what turns with the clock, is the same everywhere.
_TURNING: Final = frozenset({
    "article", "back", "comments", "next", "only-unread", "original", "previous", "sign-out", "tag"
})  # fmt: skip

_SIZES = (
    language.N_("%(count)s bytes"),
    language.N_("%(count)s kB"),
    language.N_("%(count)s MB"),
    language.N_("%(count)s GB"),
    language.N_("%(count)s TB"),
)


class Renderer:
    def __init__(
        self, assets: Assets, base_path: str, *, folders: Mapping[str, Path], settings_menu: Sequence[MenuItem]
    ) -> None:
        """folders: with the templates of slices, by the first part of their names."""
        slices = PrefixLoader({name: FileSystemLoader(folder) for name, folder in folders.items()})
        self._environment = Environment(
            loader=ChoiceLoader([PackageLoader("tidings.web"), slices]),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
            auto_reload=False,
            cache_size=-1,
            bytecode_cache=None if sys.dont_write_bytecode else _Compiled(),
        )
        self._environment.filters["translated"] = translated
        self._environment.filters["page_link"] = safe_href
        self._environment.filters["direction"] = text_direction
        self._environment.filters["other_direction"] = other_direction
        self._environment.globals |= {
            "_": _shown(language.gettext),
            "ngettext": _shown(language.ngettext),
            "densities": CHOICES["density"],
            "label_colors": COLOR_NAMES,
            "asset": lambda name: base_path + assets.path(name),
            "script_parts": assets.parts,
            "icon": _icon,
            "clock": clock,
            "minutes": minutes,
            "key_of": shown_key,
            "key_table": lambda user: key_table(user_shortcuts(user.shortcuts)),
            "number": language.format_number,
            "size": size,
            "fingerprint": _fingerprint,
            "settings_menu": settings_menu,
            "version": __version__,
        }

    def html(self, page: PageResponse, context: RequestContext) -> bytes:
        """Render in the current language, which the caller has set (`use_language`)."""
        template = self._environment.get_template(page.template)
        # The first wrong field of a page gets the focus: macros set `is_given` when they have given it.
        known = _known(context) | {"problem": page.problem, "focus": Namespace(is_given=False)} | page.values
        return template.render(known).encode("utf-8", "replace")


class _Compiled(FileSystemBytecodeCache):
    """Keeps compiled templates in the folder of Python's own bytecode, so that all processes share them.

    The first request of a page takes some 50 ms less. Where the folder is read-only, each process compiles its own.
    """

    def __init__(self) -> None:
        versions = hashlib.sha256(f"{__version__} {jinja2.__version__}".encode()).hexdigest()[:8]
        super().__init__(str(Path(__file__).with_name("__pycache__")), f"{versions}-%s.template")

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def _known(context: RequestContext) -> dict[str, Any]:
    zone = context.user.timezone if context.user else "UTC"
    return {
        "context": context,
        "user": context.user,
        "device": context.device.for_user(context.user),
        "url": context.url,
        "back": context.path,
        "lang": language.current().code,
        "direction": language.current().direction,
        "when": lambda instant: when(instant, context.now, zone),
        "since": lambda instant: when(instant, context.now, zone, since),
        "hint": partial(key_hints, context.user),
        "date": lambda instant: when(instant, context.now, zone, date),
        "exact": lambda instant: exact(instant, zone),
        "written": lambda instant: written(instant, zone),
    }


@lru_cache(maxsize=256)
def _icon(name: str, *, is_button: bool = False) -> Markup:
    """Return an icon. It stands next to text or in a labelled element, so screen readers skip it.

    is_button: it is all that a labelled button contains, whose content screen readers skip anyway (WAI-ARIA 1.2,
    "Children Presentational"): lists are shorter without saying so twice for each entry.
    """
    hidden = "" if is_button else Markup(' aria-hidden="true"')
    turns = " turns" if name in _TURNING else ""
    return Markup('<svg class="icon{}"{}><use href="#i-{}"/></svg>').format(turns, hidden, name)


def size(count: int) -> str:
    """Return a size in words: 46.1 MB, or 46,1 Mo in French. count: bytes."""
    step = min((len(str(count)) - 1) // 3, len(_SIZES) - 1)
    shown = format_decimal(count / 1000**step, "#,##0.0" if step else "0", locale=language.current().locale)
    return language.gettext(_SIZES[step], count=shown)


def _fingerprint(text: str) -> str:
    """Return a short hash for URLs of content that browsers cache until it changes."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:10]


def _shown(translate: Any) -> Any:
    """Messages are ours and may contain markup; values come from outside and are escaped."""

    def shown(*messages: Any, **values: Any) -> Markup:
        text = Markup(translate(*messages))  # noqa: S704 - from our own catalogue
        return Markup(language.filled(text, values))  # noqa: S704 - values were escaped

    return shown


# Languages that are written from right to left (CLDR, characterOrder).
_RIGHT_TO_LEFT: Final = frozenset({
    "ar", "arc", "ckb", "dv", "fa", "he", "iw", "ji", "ks", "lrc",
    "mzn", "nqo", "pnb", "ps", "sd", "syr", "ug", "ur", "yi"
})  # fmt: skip
# Hebrew, Arabic, Syriac, Thaana, N'Ko and their presentation forms.
_LETTER: Final = re.compile("[\u05d0-\u07ff\u0860-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


# A beginning of this length shows the direction of a whole article. Characters, with markup.
_DIRECTION_SAMPLE: Final = 20_000
# Code has a direction of its own.
_MARKUP: Final = re.compile(r"<(?:pre|code)\b[^>]*>[^<]*|<[^>]*>|&#?\w{1,10};")
_OTHER_LETTER: Final = re.compile("[^\\W\\d_\u05d0-\u07ff\u0860-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def text_direction(language: str, text: str) -> str:
    """Return the value of the attribute `dir`.

    rtl: most letters are of a script that runs from right to left, or some are and the feed is in such a language.
    ltr: most letters are of other scripts. auto: all are, so that the browser's choice by the first letter is right.
    language: the feed's language code, such as "ar-EG". text: plain, or clean HTML.
    """
    if text.isascii() or not (found := _LETTER.search(text)):
        return "auto"
    if language.lower().replace("_", "-").partition("-")[0] in _RIGHT_TO_LEFT:
        return "rtl"
    if found.start() >= _DIRECTION_SAMPLE:
        return "ltr"
    sample = _MARKUP.sub(" ", text[:_DIRECTION_SAMPLE])
    return "rtl" if len(_LETTER.findall(sample)) >= len(_OTHER_LETTER.findall(sample)) else "ltr"


def other_direction(feed_language: str, text: str) -> str:
    """Return the attribute `dir` for a text on the page itself; "" if the text runs as the page does.

    Takes the arguments of `text_direction`. With a hundred rows, attributes that change nothing would take 3 kB.
    """
    direction = text_direction(feed_language, text)
    is_usual = direction == "auto" and language.current().direction == "ltr"
    return "" if is_usual else Markup(' dir="{}"').format(direction)
