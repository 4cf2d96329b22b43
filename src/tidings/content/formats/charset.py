"""Decodes documents: finds the encoding a document is really in, which is often not the declared one.

Where none is declared, or a wrong one, it is guessed by the letters in the document.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable
from typing import Final

from msgspec import Struct

# Guesses

# Bytes: enough letters to distinguish scripts.
_SAMPLE_BYTES: Final = 80_000
_MAX_CHARACTER_BYTES: Final = 4
_NON_ASCII_RUN: Final = re.compile(rb"[\x80-\xff]{2,}")
_NON_ASCII_BYTES: Final = bytes(range(128, 256))
# If at least this share of the bytes above 127 has a neighbour above 127, they form words, not accents.
_MIN_SHARE_IN_WORDS: Final = 0.8
# Fewer bytes above 127 do not contradict a label.
_MIN_OTHER_BYTES: Final = 30
_FOREIGN_RUN: Final = re.compile(r"[^\x00-\x7f]+")
_TYPOGRAPHIC: Final = frozenset("\xa0“”„‚‘’‹›«»–—…•·°§©®™€£¡¿")
# Fewer letters above ASCII say nothing about the language.
_MIN_LATIN_LETTERS: Final = 4
_MIN_LATIN_SHARE: Final = 0.9
_MIN_LATIN_LEAD: Final = 0.05
_WESTERN: Final = "cp1252"
# For each codec, the letters above ASCII of the languages that are written in it, in lower case.
_LATIN_LETTERS: Final = {
    _WESTERN: (
        "àâæçéèêëîïôœùûüÿ", "äöüßé", "áéíñóúüçà", "áâãàçéêíóôõúü", "àèéìíòóùú", "éëïöüáóèê", "åäöéü", "æøåéöü",
        "áéíóúýþæöð", "àçéèíïóòúüñ",
    ),
    "cp1250": (
        "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "ąćęłńóśźż", "áéíóöőúüű", "ăâîşţ", "čćđšž",
    ),
    "iso8859_2": (
        "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "ąćęłńóśźż", "áéíóöőúüű", "ăâîşţ", "čćđšž",
    ),
    "cp1254": ("çğıi̇öşüâîû",),
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž"),
}  # fmt: skip


class CharsetCandidate(Struct, frozen=True):
    """A codec for one script, and how to recognize a text in it."""

    codec: str
    is_common_letter: Callable[[str], bool]
    """Return whether a letter is one of the everyday letters of the script."""
    min_share: float
    """The minimum share of such letters among the letters above ASCII, 0 to 1."""


def guess_charset(body: bytes) -> str | None:
    """Return the first codec whose letters are common enough, None if there is none.

    Multi-byte codecs come first and must decode the sample without an error, which rarely happens by accident.
    Single-byte codecs decode everything; they count only where whole words are above ASCII, and the codec with
    the highest share of common letters wins. Latin scripts, whose letters are mostly ASCII, are told apart by the
    accented letters of their languages.
    """
    sample = body[:_SAMPLE_BYTES]
    for candidate in _MULTI_BYTE:
        if _common_letter_share(_decode_sample(sample, candidate.codec), candidate) >= candidate.min_share:
            return candidate.codec
    if _share_in_words(sample) < _MIN_SHARE_IN_WORDS:
        return _guess_latin(sample)
    shares = [(_common_letter_share(sample.decode(each.codec, "replace"), each), each) for each in _SINGLE_BYTE]
    share, best = max(shares, key=lambda pair: pair[0])
    return best.codec if share >= best.min_share else None


def choose_charset(body: bytes, codecs: list[str]) -> str:
    """Return the codec that makes most sense of the letters, the first one of several that make the same.

    codecs: at least one; each decodes the body.
    """
    guess = guess_charset(body)
    if guess in codecs:
        return guess
    sample = body[:_SAMPLE_BYTES]
    return max(codecs, key=lambda codec: _best_share(sample.decode(codec, "ignore")))


def guess_other_script(body: bytes) -> str | None:
    """Return the guessed codec if it is certain that the body is not in a Latin script, else None."""
    sample = body[:_SAMPLE_BYTES]
    if len(sample) - len(sample.translate(None, _NON_ASCII_BYTES)) < _MIN_OTHER_BYTES:
        return None
    guess = guess_charset(body) if _share_in_words(sample) >= _MIN_SHARE_IN_WORDS else None
    return None if guess in _LATIN_LETTERS else guess


def _best_share(text: str) -> float:
    """Return how common the letters above ASCII are in the script or the language that fits best, 0 to 1."""
    scripts = [_common_letter_share(text, candidate) for candidate in (*_MULTI_BYTE, *_SINGLE_BYTE)]
    return max(*scripts, *(_language_share(text, codec) for codec in _LATIN_LETTERS))


def _guess_latin(sample: bytes) -> str | None:
    """Return the codec in which all accented letters belong to one language; None for cp1252 or a tie."""
    scores = {codec: _language_share(sample.decode(codec, "replace"), codec) for codec in _LATIN_LETTERS}
    best = max(scores, key=lambda codec: scores[codec])
    is_clear = scores[best] >= _MIN_LATIN_SHARE and scores[best] > scores[_WESTERN] + _MIN_LATIN_LEAD
    return best if is_clear else None


def _language_share(text: str, codec: str) -> float:
    """Returns, for the language that fits best, which share of the characters above ASCII are its letters.

    Typographic characters between words count for no language, inside a word against all.
    """
    counts: Counter[str] = Counter()
    for run in _FOREIGN_RUN.finditer(text):
        start, end = run.span()
        is_inside_word = text[start - 1 : start].isalpha() and text[end : end + 1].isalpha()
        counts.update(each for each in run[0].lower() if each not in _TYPOGRAPHIC or (is_inside_word and each != "’"))
    total = counts.total()
    if total < _MIN_LATIN_LETTERS:
        return 0.0
    return max(sum(counts[letter] for letter in letters) for letters in _LATIN_LETTERS[codec]) / total


def _decode_sample(sample: bytes, codec: str) -> str:
    """Return the sample as text, "" if it is not valid in this codec."""
    try:
        return sample.decode(codec)
    except UnicodeDecodeError as error:
        # The sample may end inside a character.
        if error.start < _SAMPLE_BYTES - _MAX_CHARACTER_BYTES:
            return ""
        return sample[: error.start].decode(codec, "replace")


def _common_letter_share(text: str, candidate: CharsetCandidate) -> float:
    foreign = [letter for letter in text if letter > "\x7f"]
    return sum(map(candidate.is_common_letter, foreign)) / len(foreign) if foreign else 0.0


def _share_in_words(sample: bytes) -> float:
    high = len(sample) - len(sample.translate(None, _NON_ASCII_BYTES))
    return sum(len(run) for run in _NON_ASCII_RUN.findall(sample)) / high if high else 0.0


def _letter_range(first: str, last: str) -> Callable[[str], bool]:
    return lambda letter: first <= letter <= last


def _is_common_simplified(letter: str) -> bool:
    # The first level of GB 2312 holds the 3,755 everyday characters, in rows B0 to D7.
    if not "\u4e00" <= letter <= "\u9fff":
        return letter in "，。、：；！？（）《》“”　"
    code = letter.encode("gb2312", "ignore")
    return len(code) == 2 and 0xB0 <= code[0] <= 0xD7


def _is_common_traditional(letter: str) -> bool:
    # The first level of Big5 holds the 5,401 everyday characters, in rows A4 to C6.
    if not "\u4e00" <= letter <= "\u9fff":
        return letter in "，。、：；！？（）《》「」　"
    code = letter.encode("big5", "ignore")
    return len(code) == 2 and 0xA4 <= code[0] <= 0xC6


_is_kana = _letter_range("\u3040", "\u30ff")
_is_cyrillic = _letter_range("\u0430", "\u044f")

# Korean before Chinese: its bytes are everyday Chinese characters too, but not the reverse.
_MULTI_BYTE: Final = (
    CharsetCandidate("cp932", _is_kana, 0.25),
    CharsetCandidate("euc_jp", _is_kana, 0.25),
    CharsetCandidate("cp949", _letter_range("\uac00", "\ud7a3"), 0.9),
    CharsetCandidate("gb18030", _is_common_simplified, 0.7),
    CharsetCandidate("big5hkscs", _is_common_traditional, 0.7),
)
# Hebrew before Russian, whose small letters include the places of all Hebrew ones.
_SINGLE_BYTE: Final = (
    CharsetCandidate("cp1255", _letter_range("\u05d0", "\u05ea"), 0.9),
    CharsetCandidate("cp1251", _is_cyrillic, 0.7),
    CharsetCandidate("koi8_r", _is_cyrillic, 0.7),
    CharsetCandidate("cp874", _letter_range("\u0e01", "\u0e4e"), 0.9),
    CharsetCandidate("cp1253", _letter_range("\u03ac", "\u03ce"), 0.7),
    CharsetCandidate("cp1256", _letter_range("\u0621", "\u064a"), 0.7),
)


# Decoding

# Longest first: the mark of UTF-32 LE begins with UTF-16 LE's.
_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# The first "<", "{" or blank of a document without a byte order mark, in encodings in which ASCII is not one byte.
_WIDE_STARTS: Final = (
    (re.compile(rb"\0\0\0[<{\s]"), "utf-32-be"),
    (re.compile(rb"[<{\s]\0\0\0"), "utf-32-le"),
    (re.compile(rb"\0[<{\s]\0[^\0]"), "utf-16-be"),
    (re.compile(rb"[<{\s]\0[^\0]\0"), "utf-16-le"),
    (re.compile(rb"\x4c\x6f\xa7\x94"), "cp037"),
)

_PROLOG_LABEL: Final = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})""")
_PROLOG_LENGTH: Final = 1024

# Labels that publishers use for a superset of the encoding they name (WHATWG Encoding, section 4.2).
_SUPERSETS: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
_ALIASES: Final = {
    "x-sjis": "cp932",
    "x-gbk": "gb18030",
    "x-euc-jp": "euc_jp",
    "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
    "ks_c_5601-1987": "cp949",
    "windows-874": "cp874",
    "dos-874": "cp874",
    "unicode": "utf-16",
    "utf8mb4": "utf-8",
}
# Codecs for escaping or for host names, not for documents; some take quadratic time.
_UNUSABLE_CODECS: Final = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7"})

# In these encodings every document is also valid UTF-8, so that valid UTF-8 proves nothing.
_SEVEN_BIT_CODECS: Final = frozenset({"iso2022_jp", "iso2022_kr", "hz"})
_MULTI_BYTE_UNITS: Final = ("utf-16", "utf-32")

_HIGH_RUN: Final = re.compile(rb"[\x80-\xff]{2,}")
_SURROGATES: Final = re.compile(rb"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]|\xed[\xa0-\xbf][\x80-\xbf]")


class DecodedText(Struct, frozen=True):
    """A decoded document."""

    text: str
    utf8: bytes | None = None
    """The text as UTF-8 bytes if the document arrived in that form, else None."""


def decode(body: bytes, charset: str | None = None, declared: str | None = None) -> str:
    """Return the document as text, without its byte order mark. Never raises.

    charset: the charset of the HTTP Content-Type, if any. declared: the label in the document; by default the one of
    the XML declaration.
    Order: byte order mark, the bytes themselves if they are UTF-8 but for a few, the labels, a guess from the letters,
    windows-1252. UTF-8 comes before the labels: other encodings almost never form valid UTF-8 by accident, and wrong
    labels are common. Latin-1 and ASCII in `charset` come last: servers send them for everything, and the document
    knows better. Of two other labels the one wins in which the letters make words.
    """
    return decode_document(body, charset, declared).text


def decode_document(body: bytes, charset: str | None = None, declared: str | None = None) -> DecodedText:
    """Return the same as `decode`, with the UTF-8 bytes if no conversion is needed."""
    for mark, codec in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            # Some publishers write the mark twice.
            return DecodedText(body[len(mark) :].decode(codec, "replace").removeprefix("\ufeff"))
    return _decode_unmarked(body, charset, declared or _label_in_prolog(body))


def codec_for(label: str | None) -> str | None:
    """Return the name of the Python codec for a label; None if it is unknown or not for documents."""
    if not label:
        return None
    label = label.strip(" \t\r\n\"'").lower()
    try:
        name = codecs.lookup(_ALIASES.get(label, label)).name
    except (LookupError, ValueError):
        return None
    if name in _UNUSABLE_CODECS or not _decodes_to_text(name):
        return None
    return _SUPERSETS.get(name, name)


def _decode_unmarked(body: bytes, charset: str | None, declared: str | None) -> DecodedText:
    for start, codec in _WIDE_STARTS:
        if start.match(body):
            return DecodedText(body.decode(codec, "replace"))
    labels = [codec_for(charset), codec_for(declared)]
    for seven_bit in _SEVEN_BIT_CODECS.intersection(labels):
        return DecodedText(body.decode(seven_bit, "replace"))
    try:
        return DecodedText(body.decode(), body)
    except UnicodeDecodeError:
        if _is_server_default(charset):
            labels.reverse()
        return DecodedText(_decode_high_bytes(body, labels, chooses=not _is_server_default(charset)))


def _decode_high_bytes(body: bytes, labels: list[str | None], *, chooses: bool) -> str:
    """Return the text of bytes that are not valid UTF-8 and have no byte order mark.

    chooses: whether the letters decide between the labels; else their order.
    """
    if mixed := _decode_damaged_utf8(body):
        return mixed
    texts = {codec: text for codec in labels if codec and (text := _decode_if_mostly_valid(body, codec)) is not None}
    if list(texts) == ["cp1252"] and (other := guess_other_script(body)):
        return body.decode(other, "replace")
    if texts:
        return texts[choose_charset(body, list(texts)) if chooses and len(texts) > 1 else next(iter(texts))]
    return body.decode(guess_charset(body) or "cp1252", "replace")


def _is_server_default(charset: str | None) -> bool:
    """Return whether the label is what servers send when nobody has set one: ASCII or Latin-1."""
    try:
        return codecs.lookup((charset or "").strip(" \t\r\n\"'")).name in {"ascii", "iso8859-1"}
    except (LookupError, ValueError):
        return False


def _decode_damaged_utf8(body: bytes) -> str | None:
    """Return the text of UTF-8 with bytes that do not belong there; None if the document is in another encoding.

    A stray byte alone among ASCII is text that was pasted from windows-1252. Longer runs of bytes above 127 rarely are
    valid UTF-8 by accident: three valid ones of four are proof. A character above U+FFFF may be written as two halves
    of three bytes each (CESU-8, Unicode Technical Report 26).
    """
    if b"\xed" in body:
        body = _SURROGATES.sub(_join_surrogates, body)
    runs = b"".join(_HIGH_RUN.findall(body))
    strays = len(runs) - len(runs.decode("utf-8", "ignore").encode())
    return body.decode("utf-8", "tidings-stray-byte") if runs and strays * 4 <= len(runs) else None


def _join_surrogates(match: re.Match[bytes]) -> bytes:
    """Return the character of a pair of surrogates in UTF-8; U+FFFD for half a pair."""
    halves = match[0].decode("utf-8", "surrogatepass")
    return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _decode_if_mostly_valid(body: bytes, codec: str) -> str | None:
    """Return the text, or None if too many of the bytes above 127 do not fit: then the label is wrong."""
    if codec == "utf-8" or codec.startswith(_MULTI_BYTE_UNITS):
        return None
    high = len(body) - len(body.translate(None, _HIGH_BYTES))
    text = body.decode(codec, "replace")
    return text if text.count("\ufffd") * 10 <= high else None


def _decode_stray_byte(error: UnicodeError) -> tuple[str, int]:
    """Decodes a single byte that does not fit as windows-1252, the usual source of pasted text."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    stray = error.object[error.start : error.end]
    return (stray.decode("cp1252", "replace") if len(stray) == 1 else "\ufffd"), error.end


def _label_in_prolog(body: bytes) -> str | None:
    match = _PROLOG_LABEL.search(body[:_PROLOG_LENGTH])
    return match[1].decode("ascii") if match else None


def _decodes_to_text(name: str) -> bool:
    try:
        b"a".decode(name)
    except LookupError:
        return False
    except UnicodeError:
        # A multi-byte encoding rejects a single byte.
        return True
    return True


_HIGH_BYTES: Final = bytes(range(128, 256))

codecs.register_error("tidings-stray-byte", _decode_stray_byte)
