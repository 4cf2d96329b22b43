"""The direction in which texts of publishers are written."""

from __future__ import annotations

import re
from typing import Final

# Languages that are written from right to left (CLDR, characterOrder).
_RIGHT_TO_LEFT: Final = frozenset({
    "ar", "arc", "ckb", "dv", "fa", "he", "iw", "ji", "ks", "lrc",
    "mzn", "nqo", "pnb", "ps", "sd", "syr", "ug", "ur", "yi"
})  # fmt: skip
# Hebrew, Arabic, Syriac, Thaana, N'Ko and their presentation forms.
_LETTER: Final = re.compile("[\u05d0-\u07ff\u0860-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def text_direction(language: str, text: str) -> str:
    """Returns the value of the attribute `dir`.

    auto: the first letter decides, which is wrong for an Arabic text that begins with a Latin name. So texts of a
    feed in such a language are rtl if they have a letter of such a script: the language of some feeds is wrong.
    language: the feed's language code, such as "ar-EG".
    """
    is_right_to_left = language.lower().replace("_", "-").partition("-")[0] in _RIGHT_TO_LEFT
    return "rtl" if is_right_to_left and _LETTER.search(text) else "auto"
