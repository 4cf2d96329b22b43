"""What a catalogue translates is right: the same values and markup, every plural form, in words of its own.

A message without a translation is shown in English and is not a failure here: `make messages` lists it, and
`make release-check` demands it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from gettext import c2py
from itertools import combinations
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from markupsafe import Markup

from support import catalogues
from support.catalogues import messages, read, strings, untranslated, up_to_date, used_messages
from tidings.web.language import CATALOGUES, DOMAIN, compiled, filled, gettext, language, ngettext, use_language

pytestmark = pytest.mark.slow

_VALUE = re.compile(r"%\(\w+\)[a-z]|%%|\{\w+(?::,)?\}|</?[a-z]+[^>]*>")
_COUNT = re.compile(r"%\(count\)[sd]")
# A speaker of the language decides whether "now" is one word or four; some words are the same everywhere.
MIN_DIFFERENT_SHARE = 0.85


@pytest.fixture(params=sorted(CATALOGUES.values()))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def catalogue(name: str) -> Catalog:
    return _stored(name)


@cache
def _stored(name: str) -> Catalog:
    """Return the catalogue of a file. Tests do not change it: reading one takes a quarter of a second."""
    return read(name)


def every_form(catalogue: Catalog) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each translated form, with the English ones: the form for one may do without its number.

    So may, in Arabic and Hebrew, any form for a single number, such as the one for two.
    """
    single = _forms_for_one_number(catalogue)
    for message in messages(catalogue):
        english = (message.id,) if isinstance(message.id, str) else tuple(message.id)
        for number, form in enumerate(strings(message)):
            if form.strip():
                without = (
                    tuple(_COUNT.sub("", one) for one in english) if message.pluralizable and number in single else ()
                )
                yield (*(english if number == 0 else english[-1:]), *without), form


def _forms_for_one_number(catalogue: Catalog) -> set[int]:
    """Return the forms that stand for one number each, in languages whose nouns say it."""
    if str(catalogue.locale) not in ("ar", "he"):
        return set()
    form_of = c2py(catalogue.plural_expr)
    counts = Counter(form_of(number) for number in range(1_000))
    return {form for form, count in counts.items() if count == 1}


def test_messages_are_found() -> None:
    assert len(used_messages()) > 100


def test_a_message_without_a_translation_is_listed_and_shown_in_english() -> None:
    catalogue = Catalog(locale="pl", domain=DOMAIN)
    catalogue.add("Save", "Zapisz")
    catalogue.add("Cancel", "")
    catalogue.add(("%(count)d entry", "%(count)d entries"), ("%(count)d wpis", "", ""))
    missing = untranslated(catalogue)

    assert "Save" not in missing
    assert {"Cancel", "%(count)d entry", "Mark all as read"} <= set(missing)
    assert len(missing) == len(list(messages(used_messages()))) - 1

    shown = compiled(catalogue)
    assert [shown.gettext("Save"), shown.gettext("Cancel")] == ["Zapisz", "Cancel"]
    assert [shown.ngettext("%(count)d entry", "%(count)d entries", count) for count in (1, 5)] == [
        "%(count)d wpis",
        "%(count)d entries",
    ]


def test_a_release_demands_every_translation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The catalogues of a release with some of the messages, of three languages, one of them without a translation."""
    used_ones = Catalog(domain=DOMAIN)
    for number, used in enumerate(messages(used_messages())):
        if number % 20 == 0 or used.pluralizable or used.id == "Save":
            used_ones.add(used.id, None, used.locations, context=used.context)
    monkeypatch.setattr(catalogues, "used_messages", lambda: used_ones)
    monkeypatch.setattr(catalogues, "LOCALE", tmp_path)
    names = ("de", "ja", "uk")
    monkeypatch.setattr(catalogues, "CATALOGUES", dict(zip(names, names, strict=True)))
    for name in names:
        complete = Catalog(locale=name, domain=DOMAIN)
        for used in messages(used_ones):
            plural = used.pluralizable
            complete.add(used.id, ("x",) * complete.num_plurals if plural else "x", context=used.context)
        (tmp_path / f"{name}.po").write_bytes(up_to_date(complete))
    assert catalogues.main(["--release"]) == 0

    german = (tmp_path / "de.po").read_text(encoding="utf-8")
    (tmp_path / "de.po").write_text(
        german.replace('msgid "Save"\nmsgstr "x"', 'msgid "Save"\nmsgstr ""'), encoding="utf-8"
    )
    capsys.readouterr()
    assert catalogues.main(["--release"]) == 1
    assert "1 without a translation\n    'Save'\n" in capsys.readouterr().out


def test_a_plural_is_translated_in_every_form_or_not_at_all(catalogue: Catalog) -> None:
    """A sentence in two languages, depending on the number, is worse than one in English."""
    plural = [message for message in messages(catalogue) if message.pluralizable and any(strings(message))]
    assert plural
    assert [one.id for one in plural if sum(map(bool, strings(one))) != catalogue.num_plurals] == []


def test_a_translation_has_the_placeholders_and_markup_of_the_english_message(catalogue: Catalog) -> None:
    def parts(text: str) -> Counter[str]:
        return Counter(_VALUE.findall(text))

    assert [(english, form) for english, form in every_form(catalogue) if parts(form) not in map(parts, english)] == []


def test_a_translation_ends_with_the_same_punctuation(catalogue: Catalog) -> None:
    """A sentence stays a sentence and a label a label."""
    stops = (".", "。", "।")
    assert [
        (english, form) for english, form in every_form(catalogue) if english[-1].endswith(".") != form.endswith(stops)
    ] == []


def test_most_translations_differ_from_english(catalogue: Catalog) -> None:
    pairs = list(every_form(catalogue))
    assert sum(form not in english for english, form in pairs) > MIN_DIFFERENT_SHARE * len(pairs)


@pytest.mark.parametrize(
    ("code", "one", "none", "many"),
    [
        ("de_DE", "1 Minute", "0 Minuten", "5 Minuten"),
        ("fr_FR", "1 minute", "0 minute", "5 minutes"),
        ("es_ES", "1 minuto", "0 minutos", "5 minutos"),
        ("it_IT", "1 minuto", "0 minuti", "5 minuti"),
        ("ja_JP", "1 分", "0 分", "5 分"),
        ("ko_KR", "1분", "0분", "5분"),
        ("nl_NL", "1 minuut", "0 minuten", "5 minuten"),
        ("pt_BR", "1 minuto", "0 minuto", "5 minutos"),
        ("tr_TR", "1 dakika", "0 dakika", "5 dakika"),
        ("zh_CN", "1 分钟", "0 分钟", "5 分钟"),
    ],
)
def test_plural_forms_follow_the_rules_of_the_language(code: str, one: str, none: str, many: str) -> None:
    with use_language(language(CATALOGUES[code])):
        translations = [ngettext("%(count)d minute", "%(count)d minutes", count, count=count) for count in (1, 0, 5)]
    assert translations == [one, none, many]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "translations"),
    [
        ("cs_CZ", ["1 článek", "2 články", "5 článků", "21 článků", "22 článků"]),
        ("pl_PL", ["1 wpis", "2 wpisy", "5 wpisów", "21 wpisów", "22 wpisy"]),
        ("ru_RU", ["1 запись", "2 записи", "5 записей", "21 запись", "22 записи"]),
        ("uk_UA", ["1 запис", "2 записи", "5 записів", "21 запис", "22 записи"]),
    ],
)
def test_slavic_languages_have_a_form_for_few(code: str, translations: list[str]) -> None:
    counts = (1, 2, 5, 21, 22)
    with use_language(language(CATALOGUES[code])):
        assert [ngettext("%(count)d entry", "%(count)d entries", n, count=n) for n in counts] == translations


def test_french_punctuation_has_non_breaking_spaces() -> None:
    """A narrow blank before ; ! ?, one that does not break before a colon and within « »."""
    forms = [form for _english, form in every_form(_stored("fr"))]
    assert [form for form in forms if re.search(r" (?:[;!?»:](?!\S))|« ", form)] == []


def test_no_two_catalogues_have_the_same_translations() -> None:
    """Long sentences have no reason to be the same in two languages."""
    translations = {
        name: {form for _english, form in every_form(_stored(name)) if len(form) > 25} for name in CATALOGUES.values()
    }
    for one, other in combinations(translations, 2):
        assert len(translations[one] & translations[other]) < 30, (one, other, translations[one] & translations[other])


@pytest.mark.parametrize(
    ("code", "text"), [("en", "12,345 unread"), ("de", "12.345 ungelesen"), ("fr", "12\u202f345 non lus")]
)
def test_numbers_in_messages_are_grouped(code: str, text: str) -> None:
    with use_language(language(code)):
        assert ngettext("%(count)d unread", "%(count)d unread", 12_345, count=12_345) == text
        assert ngettext("%(count)d unread", "%(count)d unread", 999, count=999) == text.replace(text[:6], "999")


def test_only_numbers_are_grouped() -> None:
    with use_language(language("en")):
        assert gettext("%(text)s: %(count)d of %(most)d", text=2026, count=1, most=3_000) == "2026: 1 of 3,000"


def test_numbers_are_grouped_and_texts_escaped_in_markup() -> None:
    with use_language(language("en")):
        shown = filled(Markup("<b>%(text)s</b>: %(count)d"), {"text": "<i>", "count": 3_000})
    assert shown == "<b>&lt;i&gt;</b>: 3,000"
