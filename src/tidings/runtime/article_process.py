"""The child process that extracts articles: a hostile page can exhaust the time or memory of this process only.

`services.entries.article_extraction` sends the pages. The process imports little of Tidings to stay small.
"""

from __future__ import annotations

from tidings.content.articles import ExtractionResult, WebPage
from tidings.content.articles.extract import extract_article
from tidings.runtime.limited_process import answer_requests


def extract(page: WebPage) -> ExtractionResult:
    """Return the article, or why none could be extracted."""
    try:
        return ExtractionResult(extract_article(page))
    except Exception as error:  # noqa: BLE001 - a page must not end the process; the parent logs the error
        return ExtractionResult(None, f"{type(error).__name__}: {error}"[:500])


def main() -> None:
    """Answer requests, with the limits of the command line."""
    answer_requests(WebPage, extract)


if __name__ == "__main__":
    main()
