"""Messages for people: a gettext template and its values, rendered by each surface in its own language.

    raise InvalidInput(msg("This file holds more than {max:,} feeds.", max=10_000))

    API, log, terminal  ─► message.english()
    pages               ─► web.message_translation.translated(message)
    database            ─► the English text, and next to it `stored(message, text)`

`make messages` finds the templates by the name of the function, as gettext finds `_("…")`: the first argument of `msg`
is a literal string. A placeholder is `{name}`, or `{name:,}` for a number with separators between thousands.
Nothing else in braces is a placeholder, and a value is never read as a template, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol, TypeAlias

import msgspec
from msgspec import Struct

_PLACEHOLDER = re.compile(r"\{(\w+)(:,)?\}", re.ASCII)
# Characters of an encoded message. Longer ones are stored as English text only.
MAX_STORED_CHARS = 4_000


class Message(Struct, frozen=True, omit_defaults=True, rename={"template": "t", "values": "v"}):
    """A message that is rendered in the reader's language when it is shown."""

    template: str
    """The message in English, with placeholders."""
    values: dict[str, Value] = {}
    """Values of the placeholders, by name; a tuple of messages is a sequence of sentences."""

    def with_values(self, **values: Value) -> Message:
        """Return the message with these values added."""
        return Message(self.template, {**self.values, **values})

    def with_texts(self, change: Callable[[str], str]) -> Message:
        """Return the same message with `change` applied to every text in its values, nested messages included."""
        return Message(self.template, {name: _with_texts(value, change) for name, value in self.values.items()})

    def english(self) -> str:
        """Return the English text."""
        return render(self, _English())

    def __str__(self) -> str:
        """Return the English text: a log line or an f-string that is given a message must not show its parts."""
        return self.english()


Value: TypeAlias = str | int | float | Message | tuple[Message, ...]


def msg(template: str, /, **values: Value) -> Message:
    """Return a message to be translated. template: a literal string, which `make messages` collects."""
    return Message(template, values)


def verbatim(text: str) -> Message:
    """Return a message that is the same in every language: English for the API alone, or text from outside."""
    return Message("{text}", {"text": text})


def prefix_field(field: str, problem: Message) -> Message:
    """Return the problem with the name of the field in front, as the API shows it."""
    return Message("{field}: {problem}", {"field": field, "problem": problem})


def join_sentences(*messages: Message) -> Message:
    """Return one message that consists of several sentences."""
    return messages[0] if len(messages) == 1 else Message("{sentences}", {"sentences": messages})


class MessageStyle(Protocol):
    """How one language renders the parts of a message."""

    def translate(self, english: str) -> str: ...

    def number(self, number: float, *, is_grouped: bool) -> str: ...

    def join(self, sentences: list[str]) -> str: ...


class _English:
    def translate(self, english: str) -> str:
        return english

    def number(self, number: float, *, is_grouped: bool) -> str:
        if isinstance(number, int):
            return f"{number:,}" if is_grouped else str(number)
        return f"{number:g}"

    def join(self, sentences: list[str]) -> str:
        return " ".join(sentences)


def render(message: Message, style: MessageStyle) -> str:
    """Return the text of a message. A placeholder without a value is kept as written."""

    def replacement(placeholder: re.Match[str]) -> str:
        value = message.values.get(placeholder[1], placeholder[0])
        if isinstance(value, str):
            return value
        if isinstance(value, Message):
            return render(value, style)
        if isinstance(value, tuple):
            return style.join([render(sentence, style) for sentence in value])
        return style.number(value, is_grouped=bool(placeholder[2]))

    return _PLACEHOLDER.sub(replacement, style.translate(message.template))


def encode_message(message: Message, text: str) -> str:
    """Return the message as JSON, to be stored next to its English text; "" if that would not restore the whole text.

    text: the English text as stored, which may have been shortened.
    """
    encoded = msgspec.json.encode(message).decode()
    return encoded if len(encoded) <= MAX_STORED_CHARS and message.english() == text else ""


def decode_message(text: str, encoded: str) -> Message:
    """Return the stored message. text: its English text. encoded: the result of `encode_message`, "" in old rows.

    If `encoded` is not the message of this text, the result is the English text as a message.
    """
    if encoded:
        try:
            message = _decoder.decode(encoded)
            if message.english() == text:
                return message
        except (msgspec.MsgspecError, RecursionError):
            pass
    return verbatim(text)


def _with_texts(value: Value, change: Callable[[str], str]) -> Value:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Message):
        return value.with_texts(change)
    if isinstance(value, tuple):
        return tuple(sentence.with_texts(change) for sentence in value)
    return value


_decoder = msgspec.json.Decoder(Message)
