"""Articles of real pages: the scores do not fall."""

from __future__ import annotations

import pytest

from scoring import articles
from support.corpora import needs

pytestmark = [pytest.mark.slow, needs(articles.ARCHIVE)]


@pytest.fixture(scope="module")
def found() -> list[articles.Score]:
    return list(articles.scores())


def test_extracted_words_match_the_article(found: list[articles.Score]) -> None:
    f1, _ = articles.overall(found)

    assert f1 >= 0.98, sorted((one.f1, one.page) for one in found)[:10]


def test_pictures_of_articles_are_kept(found: list[articles.Score]) -> None:
    _, kept = articles.overall(found)

    assert kept >= 0.95, [
        one.page for one in found if one.pictures is not None and one.pictures < articles.MIN_KEPT_SHARE
    ]
