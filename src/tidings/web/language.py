"""The texts of the pages, in the language of the user.

The source is English: `_("Mark all read")`, `ngettext("%(count)d entry", "%(count)d entries", n, count=n)`, in
templates as in code. `locale/` holds a catalogue for each other language, a `.po` file that is compiled when
it is first used. The language of a request is set for the thread that answers it (`use_language`), so that functions
do not have to pass it on.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import NullTranslations
from importlib.resources import files
from typing import Any

from babel import Locale, negotiate_locale
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import Translations

# By language of accounts. Other languages that accounts may have are shown in English.
CATALOGUES = {"de_DE": "de", "fr_FR": "fr", "es_ES": "es", "zh_CN": "zh_CN"}
SOURCE = "en"
# The languages that a user can choose on the pages. The API takes others as well, which are shown in English.
OFFERED = ("en_US", *CATALOGUES)
DOMAIN = "tidings"


class Language:
    """A language with its catalogue. code: as in `<html lang>`. locale: for dates and numbers."""

    def __init__(self, name: str) -> None:
        self.locale = Locale.parse(name)
        self.code = str(self.locale).replace("_", "-")
        self.translations: NullTranslations = NullTranslations()
        if name != SOURCE:
            self.translations = _compiled(_read(name))


@cache
def language(name: str) -> Language:
    return Language(name)


def language_of_account(name: str) -> Language:
    """Returns the language of an account. name: the value of the user's setting."""
    return language(CATALOGUES.get(name, SOURCE))


def language_of_header(accepted: str) -> Language:
    """Returns the language for an Accept-Language header, which browsers send in order of preference."""
    wanted = [part.partition(";")[0].strip().replace("-", "_") for part in accepted[:500].split(",")]
    negotiated = negotiate_locale([name for name in wanted if name], [SOURCE, *CATALOGUES.values()])
    return language(negotiated or SOURCE)


def _read(name: str) -> Catalog:
    text = files("tidings.web").joinpath("locale", f"{name}.po").read_bytes()
    return read_po(io.BytesIO(text), locale=name, domain=DOMAIN)


def _compiled(catalogue: Catalog) -> NullTranslations:
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Translations(compiled, domain=DOMAIN)


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
    """Returns the translation. values: for `%(name)s` in the message."""
    text = current().translations.gettext(message)
    return text % values if values else text


def ngettext(one: str, many: str, number: int, /, **values: Any) -> str:
    text = current().translations.ngettext(one, many, number)
    return text % values if values else text


def N_(message: str) -> str:  # noqa: N802 - as gettext calls it
    """Mark a message for the catalogue. It is translated where it is shown."""
    return message


_ = gettext
