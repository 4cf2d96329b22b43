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
from typing import Any

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from babel.support import Translations

# By language of accounts. Other languages that accounts may have are shown in English.
CATALOGUES = {
    "cs_CZ": "cs",
    "de_DE": "de",
    "es_ES": "es",
    "fr_FR": "fr",
    "it_IT": "it",
    "ja_JP": "ja",
    "ko_KR": "ko",
    "nl_NL": "nl",
    "pl_PL": "pl",
    "pt_BR": "pt_BR",
    "ru_RU": "ru",
    "tr_TR": "tr",
    "uk_UA": "uk",
    "zh_CN": "zh_CN",
}
SOURCE = "en"
# The languages that a user can choose on the pages. The API takes others as well, which are shown in English.
OFFERED = ("en_US", *CATALOGUES)
DOMAIN = "tidings"
_BY_LANGUAGE = {name.partition("_")[0]: name for name in (SOURCE, *CATALOGUES.values())}
# Scripts and regions of language tags.
_TRADITIONAL = frozenset({"hant", "tw", "hk", "mo"})


class Language:
    """A language of the pages with its catalogue.

    name: of the catalogue. code: as in `<html lang>`. locale: for dates and numbers.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.locale = Locale.parse(name)
        self.code = str(self.locale).replace("_", "-")
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

    A region without a catalogue gets the catalogue of its language, except traditional Chinese: its readers often list
    English or a language without a region next.
    """
    for part in accepted[:500].split(","):
        wanted = part.partition(";")[0].strip().lower().replace("_", "-").split("-")
        name = _BY_LANGUAGE.get(wanted[0])
        if name and not (wanted[0] == "zh" and _TRADITIONAL.intersection(wanted)):
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


def filled(text: str, values: dict[str, Any]) -> str:
    """Return a translated message with its values. text: a `Markup` escapes them."""
    if not values:
        return text
    # Most numbers are small, and need no formatting.
    if any(isinstance(value, int) and value >= 1_000 for value in values.values()):
        grouped = {name: format_number(values[name]) for _begin, name in _NUMBER.findall(text)}
        return type(text)(_NUMBER.sub(r"\1s", text)) % (values | grouped)
    return text % values


def N_(message: str) -> str:  # noqa: N802 - as gettext calls it
    """Mark a message for the catalogue. It is translated where it is shown."""
    return message


_ = gettext
