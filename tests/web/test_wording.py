"""Messages of the other rings in other languages: all are collected, known again, and said with their values."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import wordings
from support.catalogues import messages, said
from tidings.domain.errors import StartError, TidingsError
from tidings.web.language import CATALOGUES, WORDS, Language, language, speaking
from tidings.web.wording import LONGEST, translated

LANGUAGES = sorted(CATALOGUES.values())
# What looks like a sentence and is never shown on a page.
NOT_SHOWN = {
    "services/opml.py": "the report of an import as the API gives it: pages make theirs of what was counted",
    "services/status.py": "what metrics are, for whoever scrapes them",
    "storage/database.py": "what is missing for the service to start, told in the terminal",
}
# Comments on columns, for whoever looks into the database.
NOT_READ = ("storage/schema/", "storage/migrations/")

_VALUE = re.compile(r"%\((\w+)\)s")


@pytest.fixture(params=LANGUAGES)
def spoken(request: pytest.FixtureRequest) -> Iterator[Language]:
    chosen = language(str(request.param))
    with speaking(chosen):
        yield chosen


def filled(text: str) -> str:
    """With something of its own for each value."""
    return text % {name: f"<{name}>" for name in _VALUE.findall(text)}


def test_every_message_is_known_again_whatever_its_values_are(spoken: Language) -> None:
    assert len(spoken.wordings) > 200
    wrong = {
        english: translated(filled(english))
        for english, other in spoken.wordings.items()
        if translated(filled(english)) != filled(other)
    }
    assert wrong == {}


def test_every_message_is_known_behind_the_name_of_a_field(spoken: Language) -> None:
    for english, other in spoken.wordings.items():
        assert translated(f"linkding.url: {filled(english)}") == f"linkding.url: {filled(other)}"


def test_english_stays_as_it_is() -> None:
    for english in language("de").wordings:
        assert translated(filled(english)) == filled(english)


IN_A_ROW = """
n.example has taken this away for good (410). Look for a new address on the site. \
Until you switch the feed on again, it is not checked any more.
n.example hat das endgültig entfernt (410). Suche auf der Website eine neue Adresse. \
Bis du den Feed wieder einschaltest, wird er nicht mehr geprüft.

The page cannot be fetched. The proxy p.example refuses the connection. Check the address, or try again later.
Die Seite lässt sich nicht holen. Der Proxy p.example weist die Verbindung ab. \
Prüfe die Adresse, oder versuche es später noch einmal.

Rule 3: The expression "(" cannot be used: a parenthesis is opened and never closed.
Regel 3: Der Ausdruck "(" ist nicht zu gebrauchen: eine Klammer wird geöffnet und nie geschlossen.

apprise.urls: Service URL 1 (tgram://): Apprise knows no such service. Service URL 2: It did not get through.
apprise.urls: Dienst-Adresse 1 (tgram://): Apprise kennt keinen solchen Dienst. Dienst-Adresse 2: Es kam nicht durch.
"""


@pytest.mark.parametrize("pair", IN_A_ROW.strip().split("\n\n"))
def test_messages_within_messages_and_in_a_row_are_told_too(pair: str) -> None:
    message, told = pair.split("\n")
    with speaking(language("de")):
        assert translated(message) == told


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("de", "gib eine Zahl von 0,25 bis 2.147.483.647 an."),
        ("fr", "indiquez un nombre de 0,25 à 2\u202f147\u202f483\u202f647."),
        ("es", "indica un número de 0,25 a 2.147.483.647."),
        ("zh_CN", "请填写 0.25 到 2,147,483,647 之间的数字。"),
    ],
)
def test_numbers_are_written_as_the_language_does(name: str, told: str) -> None:
    with speaking(language(name)):
        assert translated("send a number from 0.25 to 2,147,483,647.") == told


def test_chinese_sentences_follow_each_other_without_a_blank() -> None:
    with speaking(language("zh_CN")):
        assert translated("The proxy cannot be used. The selector is empty. It did not get through.") == (
            "无法使用代理。选择器为空。未能送达。"
        )


@pytest.mark.parametrize(
    "unknown",
    [
        "",
        " ",
        "What a stranger says.",
        "100 % of it, %(host)s and %s",
        "example.org",
        "1,234",
        "a. " * 600,
        "Rule 1: " * 10 * LONGEST,
        "Feed nicht gefunden. Prüfe die Adresse.",
    ],
)
def test_what_is_not_known_stays(unknown: str, spoken: Language) -> None:
    if unknown != "1,234":
        assert translated(unknown) == unknown


@given(st.text(alphabet="aR .:%()\n", max_size=300) | st.text(max_size=100))
def test_nothing_makes_it_fail(text: str) -> None:
    with speaking(language("de")):
        translated(text)
        translated(f"Rule 1: {text} has a fault (500). It is for the publisher to mend; try again later.")


@pytest.mark.parametrize("repeated", ["Rule 1: ", "a: ", "The proxy ", "It did not get through. ", "x was left out: "])
def test_no_message_is_read_without_end(repeated: str) -> None:
    with speaking(language("de")):
        assert translated(repeated * (LONGEST // len(repeated)))


def test_every_sentence_of_the_other_rings_is_collected() -> None:
    """Otherwise: whatever holds it is to be annotated with `Words`, unless no page shows it."""
    known = {wordings.shape(str(message.id)) for message in messages(said())}
    missing = {
        (file, sentence)
        for file, text in wordings.sources().items()
        if file not in NOT_SHOWN and not file.startswith(NOT_READ)
        for sentence in wordings.sentences(file, text)
        if wordings.shape(sentence) not in known
    }
    assert missing == set()


def test_errors_take_words_and_nothing_else() -> None:
    """A message that an error takes as a plain string would be collected by nobody."""
    importlib.import_module("tidings.wiring")

    def kinds(kind: type[TidingsError]) -> Iterator[type[TidingsError]]:
        for one in kind.__subclasses__():
            yield one
            yield from kinds(one)

    for kind in kinds(TidingsError):
        if kind.__module__.startswith("tidings.") and kind is not StartError and "__init__" in vars(kind):
            taken = vars(kind)["__init__"].__annotations__
            assert taken.get("message", "Words") == "Words", kind


DOMAIN = {
    "domain/wording.py": "Words = str",
    "domain/errors.py": (
        "class Wrong(Exception):\n    def __init__(self, message: Words, *, field: str = ''): ...\n"
        "class VeryWrong(Wrong): ..."
    ),
}


def collected_from(text: str) -> list[str]:
    sources = DOMAIN | {"domain/things.py": f"from tidings.domain.errors import Wrong, VeryWrong\n{text}"}
    return [one.text for one in wordings.collected(sources)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("raise Wrong('This is wrong.')", ["This is wrong."]),
        ("raise VeryWrong(message='This is wrong.')", ["This is wrong."]),
        ("raise Wrong(f'{size:,} is 100 % wrong: {self._name[:40]!r}.')", ["%(size)s is 100 %% wrong: %(name)s."]),
        ("raise Wrong(f'{field}: {size} is too much.', field=field)", ["%(size)s is too much."]),
        ("raise Wrong('title: a thing needs one.', field='title')", ["a thing needs one."]),
        ("raise Wrong('One thing.' if n == 1 else f'{n} things.')", ["One thing.", "%(n)s things."]),
        ("raise Wrong(f'{near} or {near}?')", ["%(near)s or %(near_2)s?"]),
        ("def why() -> Words:\n    return 'Because of it.'\nraise Wrong(why())", ["Because of it."]),
        (
            "WORDS: dict[int, Words] = {1: '{host} is away.'}\nraise Wrong(WORDS[1].format(host=1))",
            ["%(host)s is away."],
        ),
        ("class Line(Struct):\n    number: int\n    reason: Words\nLine(1, 'It is odd.')", ["It is odd."]),
        ("def wrong(reason: Words): raise Wrong(reason)\nwrong('It is odd.')", ["It is odd."]),
        ("def again(error): raise Wrong(error.message)\nclass Wrong:\n    message: Words", []),
    ],
)
def test_whatever_becomes_words_is_collected(text: str, found: list[str]) -> None:
    assert collected_from(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "raise Wrong(reason)",
        "raise Wrong('This is ' + how(wrong))",
        "raise VeryWrong(REASONS[1])",
        "def why() -> Words:\n    return reasons.pop()",
    ],
)
def test_what_cannot_be_collected_is_told(text: str) -> None:
    with pytest.raises(wordings.Unread, match=r"domain/things\.py:\d"):
        collected_from(text)


def test_catalogues_hold_words_in_a_context_of_their_own() -> None:
    contexts = {message.context for message in messages(said())}
    assert contexts == {None, WORDS}
