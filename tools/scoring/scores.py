"""All scores of the corpora: what is measured, the current score, and the minimum."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from scoring import agreement, articles, benchmarks, expected, expressions, hostile, real, throughput
from scoring.claims import Claim, share
from scoring.floors import FLOORS, MEGABYTES_PER_SECOND


class Score(Struct, frozen=True):
    """shown: the value as displayed. floor: the minimum, None if there is none."""

    part: str
    field: str
    value: float
    shown: str
    floor: float | None

    @property
    def is_reached(self) -> bool:
        return self.floor is None or self.value >= self.floor


class Part(Struct, frozen=True):
    """misses: the claims that do not hold. reasons: why documents miss, by prefix of their name."""

    scores: list[Score]
    misses: list[Claim] = []
    reasons: Mapping[str, str] = {}


def of_claims(part: str, claims: Iterable[Claim], reasons: Mapping[str, str] | None = None) -> Part:
    found = list(claims)
    by_field: dict[str, list[Claim]] = defaultdict(list)
    for claim in found:
        by_field[claim.field].append(claim)
    floors = FLOORS[part]
    unknown = floors.keys() - by_field.keys() - {"all"}
    assert not unknown, f"floors of {part} without a claim: {unknown}"
    groups = [*sorted(by_field.items()), ("all", found)]
    scores = [
        Score(part, field, share(group), f"{sum(each.holds for each in group)} of {len(group)}", floors.get(field))
        for field, group in groups
    ]
    return Part(scores, [claim for claim in found if not claim.holds], reasons or {})


def _expected() -> Part:
    return of_claims("feeds-expected", expected.claims(), expected.REASONS)


def _expressions() -> Part:
    return of_claims("feeds-expressions", expressions.claims(), expressions.REASONS)


def _real() -> Part:
    documents = list(real.documents())
    return of_claims("feeds-real", [*real.whole(documents), *real.cut_off(documents), *real.damaged(documents)])


def _agreement() -> Part:
    return of_claims("agreement", agreement.claims(agreement.sources()), agreement.REASONS)


def _hostile() -> Part:
    return of_claims("hostile", hostile.claims(hostile.payloads(), "payload"))


def _bodies() -> Part:
    return of_claims("bodies", hostile.claims(hostile.bodies(), "body"))


def _articles() -> Part:
    found = list(articles.scores())
    f1, kept = articles.overall(found)
    floors = FLOORS["articles"]
    return Part(
        [
            Score("articles", "words (F1)", f1, f"{len(found)} pages", floors["words (F1)"]),
            Score("articles", "pictures kept", kept, "pages with pictures", floors["pictures kept"]),
        ]
    )


def _trafilatura(clone: Path) -> Part:
    found = benchmarks.passage_scores(clone)
    nothing = [score.page for score in found if not score.found]
    pictures = sum(score.pictures for score in found)
    shown = f"{len(found)} pages, nothing right on {len(nothing)}, {pictures} pictures"
    misses = [Claim(page, "article", "a passage", "none") for page in nothing]
    return Part([Score("trafilatura", "passages (F1)", benchmarks.passage_f1(found), shown, None)], misses)


def _scrapinghub(clone: Path) -> Part:
    found = benchmarks.text_scores(clone)
    return Part([Score("scrapinghub", "words (F1)", benchmarks.text_f1(found), f"{len(found)} pages", None)])


def _throughput() -> Part:
    speed = throughput.measure(throughput.bodies())
    value = speed.megabytes_per_second
    pieces = {"parse": speed.parse_s, "clean": speed.clean_s, "clean and prepare": speed.prepare_s}
    parts = ", ".join(f"{name} {speed.megabytes / took_s:.0f}" for name, took_s in pieces.items())
    return Part([Score("throughput", "MB/s of one core", value, parts, MEGABYTES_PER_SECOND)])


PARTS: Final[Mapping[str, Callable[[], Part]]] = {
    "feeds-expected": _expected,
    "feeds-expressions": _expressions,
    "feeds-real": _real,
    "agreement": _agreement,
    "hostile": _hostile,
    "bodies": _bodies,
    "articles": _articles,
    "throughput": _throughput,
}

# Measured on a clone of a repository, whose path is given.
CLONED_PARTS: Final[Mapping[str, Callable[[Path], Part]]] = {"trafilatura": _trafilatura, "scrapinghub": _scrapinghub}
