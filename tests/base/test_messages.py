"""Messages: templates with values, in English, in JSON and back."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import (
    MAX_STORED_CHARS,
    Message,
    decode_message,
    encode_message,
    join_sentences,
    msg,
    prefix_field,
    verbatim,
)

HOSTILE = ["{host}", "{{host}}", "{0}", "{host.__class__}", "%s", "%(host)s", "100 %", "}{", "\\1", "\x00", "é 中"]

texts = st.text(max_size=30) | st.sampled_from(HOSTILE)
messages = st.recursive(
    st.builds(Message, texts, st.dictionaries(st.sampled_from(["host", "text"]), texts, max_size=2)),
    lambda inner: st.builds(
        Message,
        texts | st.just("{host} {text:,}"),
        st.dictionaries(
            st.sampled_from(["host", "text"]),
            texts | st.integers(-(10**9), 10**9) | inner | st.lists(inner, max_size=3).map(tuple),
            max_size=2,
        ),
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("message", "english"),
    [
        (msg("Nothing to fill."), "Nothing to fill."),
        (msg("{host} is away.", host="n.example"), "n.example is away."),
        (msg("{id} is no id.", id=12345), "12345 is no id."),
        (msg("{max:,} at most.", max=12345), "12,345 at most."),
        (msg("{min} to {max:,}.", min=0.25, max=2_147_483_647), "0.25 to 2,147,483,647."),
        (msg("Rule {number}: {reason}", number=3, reason=msg("{what} is empty.", what="It")), "Rule 3: It is empty."),
        (join_sentences(msg("It is away."), msg("Try {when}.", when="later")), "It is away. Try later."),
        (prefix_field("limit", msg("send a number.")), "limit: send a number."),
        (verbatim("100 % of {this}"), "100 % of {this}"),
        (msg('send an object, such as {"enabled": true}.'), 'send an object, such as {"enabled": true}.'),
        (msg("{missing} stays.", host="x"), "{missing} stays."),
    ],
)
def test_a_message_in_english(message: Message, english: str) -> None:
    assert message.english() == english


@pytest.mark.parametrize("value", HOSTILE)
def test_a_value_is_never_read_as_a_template(value: str) -> None:
    assert msg("{host} and {other}.", host=value, other="x").english() == f"{value} and x."
    nested = msg("Rule 1: {reason}", reason=msg("{host} is odd.", host=value), host="outer")
    assert nested.english() == f"Rule 1: {value} is odd."


@pytest.mark.slow
@given(messages)
def test_a_stored_message_is_restored(message: Message) -> None:
    text = message.english()
    encoded = encode_message(message, text)
    assert decode_message(text, encoded) == (message if encoded else verbatim(text))


@given(st.text(max_size=200), st.text(max_size=50))
def test_an_encoded_message_of_another_text_is_ignored(encoded: str, text: str) -> None:
    assert decode_message(text, encoded).english() == text


@pytest.mark.parametrize(
    "encoded",
    [
        "",
        "{",
        "null",
        "[]",
        '{"v":{}}',
        '{"t":1}',
        '{"t":"{host} is away.","v":{"host":null}}',
        '{"t":"{host} is here.","v":{"host":"n.example"}}',
        '{"t":"{a}","v":{"a":' * 2_000,
    ],
)
def test_an_unreadable_form_shows_the_english_text(encoded: str) -> None:
    assert decode_message("n.example is away.", encoded) == verbatim("n.example is away.")


def test_a_long_or_shortened_message_is_stored_as_english_text_alone() -> None:
    message = msg("{host} is away.", host="n" * MAX_STORED_CHARS)
    assert encode_message(message, message.english()) == ""
    short = msg("{host} is away.", host="n.example")
    assert encode_message(short, short.english()[:5]) == ""


def test_texts_in_nested_messages_are_changed() -> None:
    inner = msg("{secret} fails {times} times.", secret="abc", times=3)
    message = msg("{who}: {why} {more}", who="abc", why=inner, more=(inner, verbatim("abc")))
    changed = message.with_texts(lambda text: text.replace("abc", "***"))
    assert changed.english() == "***: *** fails 3 times. *** fails 3 times. ***"
    assert message.english().count("abc") == 4


def test_an_error_is_its_message_in_english() -> None:
    error = InvalidInput(msg("{host} is no address.", host="{x}"), field="url")
    assert (str(error), error.message, error.text.template) == (*["{x} is no address."] * 2, "{host} is no address.")
    assert error.problem == error.text


def test_an_error_of_a_field_names_it() -> None:
    error = InvalidField("limit", msg("{max:,} at most.", max=1000))
    assert error.message == "limit: 1,000 at most."
    assert (error.field, error.problem.english()) == ("limit", "1,000 at most.")


def test_an_error_can_be_pickled() -> None:
    error = pickle.loads(pickle.dumps(NotFound(msg("There is no feed {id}.", id=7))))
    assert error.text == msg("There is no feed {id}.", id=7)
