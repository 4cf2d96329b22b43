"""The texts of the pages, in the language of the user.

The source is English: `_("Mark all as read")`, `ngettext("%(count)d entry", "%(count)d entries", n, count=n)`, in
templates as in code. `locale/` holds a catalogue for each other language, a `.po` file that is compiled when
it is first used. The language of a request is set for the thread that answers it (`use_language`), so that functions
do not have to pass it on. Numbers in messages (`%(count)d`) are grouped by the rules of the language.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import NullTranslations
from importlib.resources import files
from typing import Any, Final

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from babel.support import Translations

# By language of accounts. Other languages that accounts may have are shown in English.
CATALOGUES = {
    "ar_SA": "ar",
    "cs_CZ": "cs",
    "de_DE": "de",
    "el_EL": "el",
    "es_ES": "es",
    "fi_FI": "fi",
    "fr_FR": "fr",
    "gl_ES": "gl",
    "he_IL": "he",
    "hi_IN": "hi",
    "id_ID": "id",
    "it_IT": "it",
    "ja_JP": "ja",
    "ko_KR": "ko",
    "nl_NL": "nl",
    "pl_PL": "pl",
    "pt_BR": "pt_BR",
    "ro_RO": "ro",
    "ru_RU": "ru",
    "tr_TR": "tr",
    "uk_UA": "uk",
    "zh_CN": "zh_CN",
    "zh_TW": "zh_TW",
}
SOURCE = "en"
# The languages that a user can choose on the pages. The API takes others as well, which are shown in English.
OFFERED = ("en_US", *CATALOGUES)
DOMAIN = "tidings"
# The simplified script for Chinese without region and script.
_BY_LANGUAGE = {name.partition("_")[0]: name for name in (SOURCE, *sorted(CATALOGUES.values(), reverse=True))}
# Scripts and regions of language tags.
_TRADITIONAL, _SIMPLIFIED = frozenset({"hant", "tw", "hk", "mo"}), "hans"


class Language:
    """A language of the pages with its catalogue.

    name: of the catalogue. code and direction: as in `<html lang dir>`. locale: for dates and numbers.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.locale = Locale.parse(name)
        self.code = str(self.locale).replace("_", "-")
        self.direction: str = self.locale.text_direction
        self.translations: NullTranslations = NullTranslations()
        if name != SOURCE:
            self.translations = compiled(_read(name))


@cache
def language(name: str) -> Language:
    return Language(name)


def language_of_account(name: str) -> Language:
    """Return the language of an account. name: the value of the user's setting."""
    return language(CATALOGUES.get(name, SOURCE))


def setting_of(chosen: Language) -> str:
    """Return the setting of an account whose pages are in this language."""
    return next((name for name, catalogue in CATALOGUES.items() if catalogue == chosen.name), OFFERED[0])


def language_of_header(accepted: str) -> Language:
    """Return the language for an Accept-Language header, which browsers send in order of preference.

    A region without a catalogue gets the catalogue of its language; for Chinese, the one in its script.
    """
    for part in accepted[:500].split(","):
        wanted = part.partition(";")[0].strip().lower().replace("_", "-").split("-")
        if wanted[0] == "zh" and _SIMPLIFIED not in wanted and _TRADITIONAL.intersection(wanted):
            return language("zh_TW")
        if name := _BY_LANGUAGE.get(wanted[0]):
            return language(name)
    return language(SOURCE)


def _read(name: str) -> Catalog:
    text = files("tidings.web").joinpath("locale", f"{name}.po").read_bytes()
    return read_po(io.BytesIO(text), locale=name, domain=DOMAIN)


def compiled(catalogue: Catalog) -> NullTranslations:
    """Return a catalogue ready for use. A message without a translation is shown in English."""
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Translations(compiled, domain=DOMAIN)


# Group 2: the name of the value.
_NUMBER = re.compile(r"(%\((\w+)\))d")
_current: ContextVar[Language | None] = ContextVar("language", default=None)


@contextmanager
def use_language(chosen: Language) -> Iterator[None]:
    token = _current.set(chosen)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Language:
    return _current.get() or language(SOURCE)


def gettext(message: str, /, **values: Any) -> str:
    """Return the translation. values: replace `%(name)s` and `%(name)d` in the message."""
    return filled(current().translations.gettext(message), values)


def ngettext(one: str, many: str, number: int, /, **values: Any) -> str:
    return filled(current().translations.ngettext(one, many, number), values)


def format_number(value: float) -> str:
    """Return a number as the current language writes it: 1,234 or 1.234."""
    return str(format_decimal(value, locale=current().locale))


# First strong isolate, and its end: Unicode's marks around text whose direction follows from its own letters.
_ISOLATE: Final = ("\u2068", "\u2069")


def isolated(text: str) -> str:
    """Return a value for a sentence of the current language, whose order it does not disturb.

    In a sentence from right to left, an address or an English title would take dots and brackets next to it along.
    Marks are characters and not elements: values stand in attributes, too.
    """
    if current().direction == "ltr" or not text:
        return text
    return f"{_ISOLATE[0]}{text}{_ISOLATE[1]}" if type(text) is str else type(text)(_ISOLATE[0]) + text + _ISOLATE[1]


def filled(text: str, values: dict[str, Any]) -> str:
    """Return a translated message with its values. text: a `Markup` escapes them."""
    if not values:
        return text
    if current().direction == "rtl":
        values = {name: isolated(value) if isinstance(value, str) else value for name, value in values.items()}
    # Most numbers are small, and need no formatting.
    if any(isinstance(value, int) and value >= 1_000 for value in values.values()):
        grouped = {name: format_number(values[name]) for _begin, name in _NUMBER.findall(text)}
        return type(text)(_NUMBER.sub(r"\1s", text)) % (values | grouped)
    return text % values


def N_(message: str) -> str:  # noqa: N802 - as gettext calls it
    """Mark a message for the catalogue. It is translated where it is shown."""
    return message


_ = gettext
