"""Decoding: byte order marks, declared encodings and guesses."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.formats.documents import feed, rss
from tidings.content.formats.charset import codec_for, decode

TITLES = {
    "shift_jis": "日本語",
    "iso2022_jp": "日本語",
    "gb18030": "天气",
    "euc-kr": "뉴스",
    "windows-1251": "Привет",
}


def titled(title: str, codec: str, label: str | None = None) -> bytes:
    prolog = f'<?xml version="1.0" encoding="{label}"?>' if label else ""
    return (prolog + rss(f"<item><title>{title}</title></item>")).encode(codec)


@pytest.mark.parametrize(
    ("codec", "label", "charset"),
    [
        ("utf-8", None, None),
        ("utf-8", "utf-8", None),
        # Valid UTF-8 is believed rather than a label.
        ("utf-8", "iso-8859-1", None),
        ("utf-8", None, "iso-8859-1"),
        ("utf-8", "utf-16", None),
        ("utf-8-sig", "iso-8859-1", "iso-8859-1"),
        # Labels, that of HTTP first.
        ("iso-8859-1", "iso-8859-1", None),
        ("iso-8859-1", None, "iso-8859-1"),
        ("windows-1251", "windows-1251", None),
        ("windows-1251", "iso-8859-1", "windows-1251"),
        # What servers send by default loses to any label in the document.
        ("windows-1251", "windows-1251", "iso-8859-1"),
        ("windows-1251", "windows-1251", "us-ascii"),
        ("gb18030", "gb2312", "ISO-8859-1"),
        ("euc-kr", "euc-kr", "latin1"),
        ("shift_jis", "Shift_JIS", "US-ASCII"),
        ("iso-8859-1", "utf-8", "iso-8859-1"),
        ("shift_jis", "Shift_JIS", None),
        ("gb18030", "gb2312", None),
        ("euc-kr", "ks_c_5601-1987", None),
        ("iso2022_jp", "iso-2022-jp", None),
        # A label that cannot be right gives way to the next.
        ("windows-1251", "windows-1251", "utf-8"),
        ("windows-1251", "windows-1251", "no-such-thing"),
        # Wide ones, with and without a mark.
        ("utf-16", "utf-16", None),
        ("utf-16-le", None, None),
        ("utf-16-be", None, None),
        ("utf-32", None, None),
        ("utf-32-le", None, None),
        ("utf-32-be", None, None),
        ("cp037", "cp037", None),
    ],
)
def test_the_encoding_is_found(codec: str, label: str | None, charset: str | None) -> None:
    title = TITLES.get(codec, "caf\xe9")

    assert feed(titled(title, codec, label), charset=charset).entries[0].title == title


@pytest.mark.parametrize(
    ("codec", "title"),
    [
        ("cp1252", "it’s “déjà vu”"),
        ("cp1251", "Привет, это новость дня"),
        ("koi8_r", "Привет, это новость дня"),
        ("cp932", "日本語のニュースです"),
        ("euc_jp", "日本語のニュースです"),
        ("gb18030", "今天天气很好我们去公园"),
        ("big5", "今天天氣很好我們去公園"),
        ("cp949", "안녕하세요 오늘의 뉴스입니다"),
        ("cp1255", "שלום לכולם"),
        ("cp1253", "Καλημέρα σας"),
        ("cp1252", "L’été, à la forêt : où ça ?"),
        ("cp1252", "Größe, Übermut und Ärger in Jüterbog"),
        ("cp1252", "¿Qué pasó? Mañana, ¡sí! El año de la niña"),
        ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy"),
        ("cp1250", "„Zażółć gęślą jaźń” – wczoraj przyszedł deszcz"),
        ("cp1250", "Árvíztűrő tükörfúrógép, őszi eső"),
        ("iso8859_2", "Zażółć gęślą jaźń, żółw i źrebię"),
        ("cp1254", "Şimdi İstanbul'da yağmur yağıyor, çocuklar bahçede"),
        ("cp1257", "Įlinkdama fechtuotojo špaga sublykčiojusi pragręžė apvalų arbūzą"),
    ],
)
def test_without_a_label_the_encoding_is_guessed_from_the_letters(codec: str, title: str) -> None:
    assert feed(titled(title, codec)).entries[0].title == title


LONG = {
    "cp1251": "Сегодня в столице ожидается дождь, сообщает бюро погоды",
    "koi8_r": "Сегодня в столице ожидается дождь, сообщает бюро погоды",
    "iso8859_5": "Сегодня в столице ожидается дождь, сообщает бюро погоды",
    "gb18030": "今天天气很好我们去公园玩，明天会下雨吗",
    "cp949": "안녕하세요 오늘의 뉴스입니다 내일은 비가 옵니다",
    "cp1253": "Καλημέρα σας, αύριο θα βρέξει σε όλη τη χώρα",
    "cp1254": "Şimdi İstanbul'da yağmur yağıyor, çocuklar bahçede",
    "iso8859_2": "Zażółć gęślą jaźń, żółw i źrebię",
    "cp1252": "L’été à la forêt : où ça ? Größe und Übermut",
}


@pytest.mark.parametrize("codec", LONG)
@pytest.mark.parametrize("other", ["cp1251", "koi8_r", "gb18030", "cp949", "cp1254", "iso8859_2", "windows-1252"])
def test_of_two_labels_the_letters_choose(codec: str, other: str) -> None:
    document = titled(LONG[codec], codec, codec)

    assert feed(document, charset=other).entries[0].title == LONG[codec]
    document = titled(LONG[codec], codec, other)
    assert feed(document, charset=codec).entries[0].title == LONG[codec]


@pytest.mark.parametrize("codec", ["cp1251", "koi8_r", "gb18030", "cp949", "cp1253"])
@pytest.mark.parametrize("charset", ["iso-8859-1", "us-ascii"])
def test_latin_1_alone_is_not_believed_for_another_script(codec: str, charset: str) -> None:
    assert feed(titled(LONG[codec], codec), charset=charset).entries[0].title == LONG[codec]
    assert feed(titled(LONG[codec], codec, charset)).entries[0].title == LONG[codec]


@pytest.mark.parametrize("title", ["ÄÖÜ", "Ça déjà", "Été", "ÀÉÈ ÖÄÜ", "«Él»"])
def test_latin_1_alone_is_believed_for_latin_letters(title: str) -> None:
    assert feed(titled(title, "iso-8859-1"), charset="iso-8859-1").entries[0].title == title


def test_a_stray_byte_in_utf8_is_read_as_windows_1252_and_spoils_nothing_else() -> None:
    body = rss("<item><title>Zoë, naïve, Ørsted: it@s</title></item>").encode().replace(b"@", b"\x92")

    assert feed(body).entries[0].title == "Zoë, naïve, Ørsted: it’s"


@pytest.mark.parametrize("label", [None, "utf-8", "iso-8859-1", "windows-1251"])
@pytest.mark.parametrize("strays", [1, 3])
def test_single_stray_bytes_cost_themselves_only(label: str | None, strays: int) -> None:
    body = titled(f"café{' it@s' * strays} ö", "utf-8", label).replace(b"@", b"\x92")

    assert feed(body).entries[0].title == f"café{' it’s' * strays} ö"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (b"\xed\xa0\xbd\xed\xb8\x80", "😀"),
        (b"\xed\xa0\xbd\xed\xb8\x80 caf\xc3\xa9", "😀 café"),
        (b"caf\xc3\xa9, na\xc3\xafve \xc3\xb6 \xc3\xa4 \xed\xa0\xbd", "café, naïve ö ä \ufffd"),
    ],
    ids=["a pair", "a pair beside UTF-8", "half a pair"],
)
def test_halves_of_a_character_in_three_bytes_each_are_joined(written: bytes, text: str) -> None:
    body = titled("@", "utf-8").replace(b"@", written)

    assert feed(body).entries[0].title == text


def test_one_damaged_byte_does_not_discredit_the_label() -> None:
    body = titled("こんにちは、みなさん。", "euc_jp", "euc-jp").replace("み".encode("euc_jp"), b"\xff\xff")

    assert feed(body).entries[0].title.startswith("こんにちは")


@pytest.mark.parametrize("written", ["it\x92s", "it&#146;s", "it&#8217;s", "it&#x2019;s", "it&rsquo;s"])
@pytest.mark.parametrize("before", ["", "#1 &#8212; &amp;#146; à\u00a0", "<b>"])
def test_every_encoding_of_an_apostrophe_is_read(written: str, before: str) -> None:
    document = f"<item><description>{before}</description><title>{written}</title></item>"

    assert feed(rss(document)).entries[0].title == "it’s"


@pytest.mark.parametrize(
    "label", ["punycode", "idna", "rot13", "zlib", "undefined", "utf-7", "", "\x00", None, "x" * 500]
)
def test_labels_that_are_not_for_documents_are_unknown(label: str | None) -> None:
    assert codec_for(label) is None


@given(st.binary(), st.sampled_from([None, "utf-8", "gb2312", "utf-16", "nonsense"]))
def test_any_bytes_become_text(body: bytes, charset: str | None) -> None:
    assert isinstance(decode(body, charset), str)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_utf8_with_a_byte_order_mark_is_decoded(text: str) -> None:
    assert decode(codecs.BOM_UTF8 + text.encode()) == text
