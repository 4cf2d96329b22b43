"""Messages of the other rings in other languages."""

from __future__ import annotations

import ast
import re

import pytest

from support.catalogues import SOURCE, messages, read
from tidings.base.messages import Message, join_sentences, msg, prefix_field, verbatim
from tidings.content.errors import InvalidRule
from tidings.content.rules.evaluation import with_location
from tidings.web.language import CATALOGUES, language, use_language
from tidings.web.message_translation import translated

GONE = msg("{host} has removed this permanently (410). Look for a new address on the site.", host="n.example")
OFF = msg("The feed is not checked until you switch it on again.")
RANGE = msg("give a number from {min:,} to {max:,}.", min=0.25, max=2_147_483_647)


@pytest.mark.parametrize(
    ("message", "german"),
    [
        (OFF, "Der Feed wird nicht geprüft, bis du ihn wieder einschaltest."),
        (
            join_sentences(GONE, OFF),
            (
                "n.example hat das endgültig entfernt (410). Suche auf der Website eine neue Adresse. "
                "Der Feed wird nicht geprüft, bis du ihn wieder einschaltest."
            ),
        ),
        (
            with_location(
                InvalidRule(
                    msg(
                        "The expression {expression} cannot be used: {reason}.",
                        expression='"("',
                        reason=msg("a parenthesis is opened and never closed"),
                    )
                ),
                field="block_filter_entry_rules",
                number=3,
            ).text,
            'Regel 3: Der Ausdruck "(" lässt sich nicht verwenden: eine Klammer wird geöffnet und nie geschlossen.',
        ),
        (prefix_field("limit", RANGE), "limit: gib eine Zahl von 0,25 bis 2.147.483.647 an."),
        (msg("There is no entry {id}.", id=12345), "Es gibt keinen Eintrag 12345."),
        (verbatim("What a stranger says."), "What a stranger says."),
        (msg("A template that no catalogue has: {this}.", this=1), "A template that no catalogue has: 1."),
    ],
)
def test_a_message_in_german(message: Message, german: str) -> None:
    with use_language(language("de")):
        assert translated(message) == german
    assert translated(message) == message.english()


@pytest.mark.parametrize("host", ["{host}", "{title}", "{{host}}", "%s", "%(host)s", "100 %", "", "Untitled"])
def test_a_value_is_not_translated(host: str) -> None:
    with use_language(language("de")):
        assert translated(msg("{host} does not answer", host=host)) == f"{host} antwortet nicht"


@pytest.mark.parametrize(
    ("name", "formatted"),
    [
        ("de", "gib eine Zahl von 0,25 bis 2.147.483.647 an."),
        ("fr", "indiquez un nombre de 0,25 à 2\u202f147\u202f483\u202f647."),
        ("es", "indica un número de 0,25 a 2.147.483.647."),
        ("zh_CN", "请填写 0.25 到 2,147,483,647 之间的数字。"),
    ],
)
def test_numbers_are_written_as_the_language_does(name: str, formatted: str) -> None:
    with use_language(language(name)):
        assert translated(RANGE) == formatted


def test_chinese_sentences_are_joined_without_a_space() -> None:
    with use_language(language("zh_CN")):
        row = join_sentences(
            msg("The selector is empty."), msg("It did not get through."), verbatim("No."), verbatim("No.")
        )
        assert translated(row) == "选择器为空。未能送达。No. No."


@pytest.mark.slow
def test_every_template_is_a_literal_string() -> None:
    """Babel collects no other, and the message would stay English."""
    texts = {file: file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py")}
    for file, text in texts.items():
        for node in ast.walk(ast.parse(text)) if "msg(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "msg":
                assert isinstance(node.args[0], ast.Constant), f"{file}:{node.lineno}"


@pytest.mark.parametrize("name", sorted(CATALOGUES.values()))
def test_every_placeholder_of_a_template_is_in_its_translation(name: str) -> None:
    """What has no translation is shown in English; `make messages` lists it, and `make release-check` demands it."""
    place = re.compile(r"\{\w+(?::,)?\}")
    for message in messages(read(name)):
        if isinstance(message.id, str) and place.search(message.id) and message.string:
            assert sorted(place.findall(message.id)) == sorted(place.findall(str(message.string)))
