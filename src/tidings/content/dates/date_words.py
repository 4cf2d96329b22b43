"""Words in dates: month names in the languages of feeds, and names of time zones."""

from __future__ import annotations

import unicodedata
from typing import Final

# Full names, January to December; where a language writes dates in the genitive, that form as well.
# If an abbreviation means different months in two languages, the earlier language in this list wins.
_FULL_NAMES: Final = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "january february march april may june july august setiembre october november desember",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
    "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "януари февруари март април май юни юли август септември октомври ноември декември",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień",
    "ledna února března dubna května června července srpna září října listopadu prosince",
    "január február március április május június július augusztus szeptember október november december",
    "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
    "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
    "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulu",
    "ιανουαρ φεβρουαρ μαρτ απριλ μαι ιουν ιουλ αυγουστ σεπτεμβρ οκτωβρ νοεμβρ δεκεμβρ",
    "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre",
    "januari februari maret april mei juni juli agustus september oktober november desember",
    "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
    "ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר",
)
# Abbreviations that are not a prefix of the month's name.
_ABBREVIATIONS: Final = {
    "mrt": 3,
    "jnr": 1,
    "fvr": 2,
    "mrz": 3,
    "ιουν": 6,
    "ιουλ": 7,
    "μαϊ": 5,
    "μαι": 5,
    "avg": 8,
}
# Vietnamese months are "month one" to "month twelve"; January and December also have names of their own.
VIETNAMESE_NUMBERS: Final = {
    "mot": 1, "gieng": 1, "hai": 2, "ba": 3, "tu": 4, "nam": 5, "sau": 6, "bay": 7, "tam": 8, "chin": 9, "muoi": 10,
    "muoi mot": 11, "muoi hai": 12, "chap": 12,
}  # fmt: skip
_MIN_ABBREVIATION: Final = 3
_MIN_STEM: Final = 5

# Hours east of Greenwich. A name that several regions use means the region that publishes most feeds.
_HOURS: Final = {
    "gmt": 0, "ut": 0, "utc": 0, "z": 0, "wet": 0, "west": 1, "bst": 1, "cet": 1, "cest": 2, "met": 1,
    "mest": 2, "mez": 1, "mesz": 2, "wat": 1, "cat": 2, "sast": 2, "eet": 2, "eest": 3, "eat": 3,
    "msk": 3, "msd": 4, "trt": 3, "samt": 4, "gst": 4, "yekt": 5, "pkt": 5, "omst": 6, "novt": 7,
    "ict": 7, "wib": 7, "krat": 7, "irkt": 8, "awst": 8, "hkt": 8, "sgt": 8, "pht": 8, "myt": 8,
    "wita": 8, "jst": 9, "kst": 9, "wit": 9, "yakt": 9, "aest": 10, "vlat": 10, "aedt": 11, "magt": 11,
    "nzst": 12, "nzdt": 13, "brt": -3, "brst": -2, "art": -3, "clt": -4, "clst": -3, "bot": -4, "vet": -4,
    "pet": -5, "cot": -5, "ect": -5, "ast": -4, "adt": -3, "est": -5, "edt": -4, "et": -5, "cst": -6,
    "cdt": -5, "ct": -6, "mst": -7, "mdt": -6, "mt": -7, "pst": -8, "pdt": -7, "pt": -8, "akst": -9,
    "akdt": -8, "hst": -10, "sst": -11, "chst": 10, "azot": -1, "cvt": -1, "uyt": -3, "gft": -3,
}  # fmt: skip
_HALF_HOURS: Final = {"ist": 330, "npt": 345, "mmt": 390, "irst": 210, "aft": 270, "acst": 570, "acdt": 630,
                      "nst": -210, "ndt": -150}  # fmt: skip


def normalize_word(word: str) -> str:
    """Return the word in lower case without accents: `Août` and `aout` are one word."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.lower())
    return unicodedata.normalize("NFC", "".join(each for each in decomposed if not unicodedata.combining(each)))


def month_of(word: str) -> int | None:
    """Return the month (1 to 12) that a normalized word names: in full, abbreviated, or inflected; else None."""
    if month := MONTHS.get(word):
        return month
    stems = (word[:length] for length in range(len(word) - 1, _MIN_STEM - 1, -1))
    return next((MONTHS[stem] for stem in stems if stem in MONTHS), None)


def _months() -> dict[str, int]:
    whole: dict[str, int] = {}
    beginnings: dict[str, int] = {}
    for language in _FULL_NAMES:
        for number, name in enumerate(map(normalize_word, language.split()), start=1):
            whole.setdefault(name, number)
            for length in range(_MIN_ABBREVIATION, len(name)):
                beginnings.setdefault(name[:length], number)
    return beginnings | whole | {normalize_word(name): number for name, number in _ABBREVIATIONS.items()}


MONTHS: Final = _months()
ZONES: Final = {name: hours * 60 for name, hours in _HOURS.items()} | _HALF_HOURS
