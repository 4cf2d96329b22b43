"""Scores articles on the published evaluations of two extractors, from clones of their repositories.

    python -m scoring trafilatura=PATH    passages that an article must have and must not have (adbar/trafilatura)
    python -m scoring scrapinghub=PATH    whole texts (scrapinghub/article-extraction-benchmark)

Scored is what a reader would get to see: cut out and cleaned. Neither repository is part of the project.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import Any, TypeVar

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.base.text import name_set
from tidings.content.articles import WebPage
from tidings.content.articles.extract import extract_article
from tidings.content.cleaning import clean

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

_WORD = re.compile(r"\w+")
_SHINGLE_WORDS = 4
# Elements that stand in a line; the text of any other begins a new one.
_INLINE = name_set(
    "a abbr b bdi bdo cite code data del dfn em font i ins kbd mark q ruby s samp small span strike strong sub sup"
    " time tt u var wbr"
)


class PassageScore(Struct, frozen=True):
    """How many passages of a page's article were found, and how many that are not part of it."""

    page: str
    found: int
    missing: int
    wrong: int
    pictures: int


class TextScore(Struct, frozen=True):
    """Precision and recall of a page's runs of four words; None where there are none."""

    page: str
    precision: float | None
    recall: float | None
    pictures: int


def passage_scores(clone: Path) -> list[PassageScore]:
    """Scores every page of trafilatura's evaluation. Raises FileNotFoundError if it is not in the clone."""
    tests = clone / "tests"
    annotations = json.loads((tests / "evaldata.json").read_text())
    jobs = [(url, item, _page_file(tests, item["file"])) for url, item in sorted(annotations.items())]
    return _in_processes(_passage_score, jobs)


def text_scores(clone: Path) -> list[TextScore]:
    """Scores every page of Scrapinghub's benchmark. Raises FileNotFoundError if it is not in the clone."""
    truth = json.loads((clone / "ground-truth.json").read_text())
    jobs = [(item["url"], item["articleBody"], clone / "html" / f"{name}.html.gz") for name, item in truth.items()]
    return _in_processes(_text_score, jobs)


def passage_f1(scores: Iterable[PassageScore]) -> float:
    """Return the F1 of all passages."""
    found = wrong = missing = 0
    for one in scores:
        found, missing, wrong = found + one.found, missing + one.missing, wrong + one.wrong
    return 2 * found / (2 * found + missing + wrong)


def text_f1(scores: Iterable[TextScore]) -> float:
    """Return the F1 of mean precision and mean recall, as the benchmark defines it."""
    scores = list(scores)
    precision = mean(one.precision for one in scores if one.precision is not None)
    recall = mean(one.recall for one in scores if one.recall is not None)
    return 2 * precision * recall / (precision + recall)


def visible_text(html: str) -> str:
    """Return the text of cleaned HTML with single blanks, even between blocks, where a reader sees a new line.

    Soft hyphens and the small print over characters (ruby) are left out, because the expected passages have none.
    """
    body = LexborHTMLParser(html or "<p></p>").body
    return "" if body is None else _normalized("".join(_texts(body)))


def _normalized(text: str) -> str:
    return " ".join(text.replace("\xad", "").split())


def _texts(node: LexborNode) -> Iterable[str]:
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            yield child.text_content or ""
        elif child.tag in ("rt", "rp"):
            continue
        elif child.tag in _INLINE:
            yield from _texts(child)
        else:
            yield " "
            yield from _texts(child)
            yield " "


def _page_file(tests: Path, name: str) -> Path:
    cached = tests / "cache" / name
    return cached if cached.is_file() else tests / "eval" / name


def _in_processes(score: Callable[[_Job], _Result], jobs: list[_Job]) -> list[_Result]:
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        return list(pool.map(score, jobs, chunksize=8))


def _article(body: bytes, url: str) -> str:
    article = extract_article(WebPage(body, "", url))
    return clean(article.content, base_url=article.base_url)


def _pictures(html: str) -> int:
    return len(LexborHTMLParser(html or "<p></p>").css("img"))


def _passage_score(job: tuple[str, dict[str, Any], Path]) -> PassageScore:
    url, item, file = job
    html = _article(file.read_bytes(), url)
    text = visible_text(html)
    found, wrong = (sum(_normalized(part) in text for part in item[key]) for key in ("with", "without"))
    return PassageScore(item["file"], found, len(item["with"]) - found, wrong, _pictures(html))


def _text_score(job: tuple[str, str, Path]) -> TextScore:
    url, expected, file = job
    html = _article(gzip.decompress(file.read_bytes()), url)
    wanted, there = _shingles(expected), _shingles(visible_text(html))
    common = (wanted & there).total()
    return TextScore(
        url,
        common / there.total() if there else (None if not wanted else 0.0),
        common / wanted.total() if wanted else None,
        _pictures(html),
    )


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    runs = (tuple(words[at : at + _SHINGLE_WORDS]) for at in range(max(1, len(words) - _SHINGLE_WORDS + 1)))
    return Counter(run for run in runs if run)
