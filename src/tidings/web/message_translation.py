"""Renders messages of the other rings (`base.messages`) in the language of the request.

Message templates are looked up in the catalogue; numbers are formatted for the language. The result is plain text that
must still be escaped.
"""

from __future__ import annotations

from babel.numbers import format_decimal

from tidings.base.messages import Message, render
from tidings.web.language import Language, current, isolated

_FULL_WIDTH = ("。", "？", "！", "；")


def translated(message: Message) -> str:
    return render(message.with_texts(isolated), _Translated(current()))


def join_sentences(first: str, rest: str) -> str:
    """Join two sentences. Chinese sentences have no space between them."""
    return f"{first}{rest}" if first.endswith(_FULL_WIDTH) else f"{first} {rest}"


class _Translated:
    """Renders messages in one language; a `base.messages.MessageStyle`."""

    def __init__(self, language: Language) -> None:
        self._language = language

    def translate(self, english: str) -> str:
        # gettext returns the catalogue's header for "".
        return self._language.translations.gettext(english) if english else ""

    def number(self, number: float, *, is_grouped: bool) -> str:
        return str(format_decimal(number, locale=self._language.locale, group_separator=is_grouped))

    def join(self, sentences: list[str]) -> str:
        text = ""
        for sentence in sentences:
            text = join_sentences(text, sentence) if text else sentence
        return text
