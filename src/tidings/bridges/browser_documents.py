"""Takes documents out of the pages in which a browser shows them.

A browser that is asked for a feed shows it: as text in a page with one `pre` element, or as a tree in its viewer of
XML, which keeps the document in an element of its own. Seen in Chromium 156; XML with a style sheet stays as it is.
"""

from __future__ import annotations

import html
import re
from typing import Final

_TEXT: Final = re.compile(
    r"\s*<html[^>]*>\s*<head>(?:\s*<meta[^>]*>)*\s*</head>\s*<body[^>]*>\s*<pre[^>]*>(?P<text>.*)</pre>"
    r"(?:\s*<div class=\"json-formatter-container\"></div>)?\s*</body>\s*</html>\s*",
    re.DOTALL,
)
_VIEWER: Final = re.compile(r"<div id=\"webkit-xml-viewer-source-xml\">(?=<(?P<root>[A-Za-z][\w.:-]*))")
_DECLARATION: Final = re.compile(r"\s*<\?xml\s[^>]*\?>")


def shown_document(page: str) -> str:
    """Return the document that a browser shows with this page; the page itself if it is one.

    The declaration of XML is left out: its encoding is the original's, not this text's.
    """
    if viewer := _VIEWER.search(page):
        # The viewer writes its tree behind the document. A part of the document that looks like its end does not
        # contain the end of the root.
        end = f"</{viewer['root']}>"
        last = page.find(f'{end}</div><div class="header">', viewer.end())
        if last >= 0:
            return page[viewer.end() : last + len(end)]
    if text := _TEXT.fullmatch(page):
        page = html.unescape(text["text"])
    declaration = _DECLARATION.match(page)
    return page[declaration.end() :] if declaration else page
