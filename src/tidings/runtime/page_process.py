"""The child process that reads pages by selectors: a hostile page, or a selector, can exhaust this process only.

`services.polling.page_reader` sends the documents.
"""

from __future__ import annotations

from tidings.content.pages import PageDocument, read_document
from tidings.runtime.limited_process import answer_requests


def main() -> None:
    """Answer requests, with the limits of the command line."""
    answer_requests(PageDocument, read_document)


if __name__ == "__main__":
    main()
