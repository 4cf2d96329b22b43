"""English words reduced to what their forms have in common: `connected` and `connections` are both `connect`.

Source: M. F. Porter, An algorithm for suffix stripping, 1980, with the two changes its author made later
(`bli` and `logi` in the second step). A stem is no word; it only has to be the same for all forms.
Words of other languages lose an ending now and then, in texts and in questions alike, which does no harm.
"""

from __future__ import annotations

_DERIVED = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
    "logi": "log",
}  # fmt: skip
_DERIVED_AGAIN = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_LAST = dict.fromkeys(
    ("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
     "iti", "ous", "ive", "ize"),
    "",
)  # fmt: skip


def stem(word: str) -> str:
    """word: lower-case letters a to z."""
    if len(word) < 3:
        return word
    word = _without_inflection(_singular(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _DERIVED, longer_than=0)
    word = _replaced(word, _DERIVED_AGAIN, longer_than=0)
    word = _replaced(word, _LAST, longer_than=1)
    return _without_last_letter(word)


def _singular(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_inflection(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            return _mended(rest) if _has_vowel(rest) else word
    return word


def _mended(rest: str) -> str:
    """What is left of `hopping` and `hoping` is told apart again: `hop`, `hope`."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _ends_doubled(rest):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _ends_short(rest) else rest


def _replaced(word: str, endings: dict[str, str], *, longer_than: int) -> str:
    """The longest ending that fits decides, even when what stands before it is too short to lose it."""
    for start in range(max(0, len(word) - 7), len(word)):
        ending = word[start:]
        if ending in endings:
            rest = word[:start]
            if ending == "ion" and not rest.endswith(("s", "t")):
                return word
            return rest + endings[ending] if _measure(rest) > longer_than else word
    return word


def _without_last_letter(word: str) -> str:
    if word.endswith("e"):
        size = _measure(word[:-1])
        if size > 1 or (size == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _shape(word: str) -> str:
    """v for a vowel, c for a consonant; y is a vowel behind a consonant."""
    shape = ""
    for letter in word:
        shape += "v" if letter in "aeiou" or (letter == "y" and shape.endswith("c")) else "c"
    return shape


def _measure(word: str) -> int:
    """How often a consonant follows a vowel: roughly, syllables that are closed."""
    return _shape(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _ends_doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _ends_short(word: str) -> bool:
    """As `hop` and `fil` do, and `snow` and `box` do not."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"
