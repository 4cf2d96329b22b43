"""Ids in articles, with a prefix that separates them from the ids of the page that shows the article.

An element with an id is a property of `document` and `window` with that name, and can hide what a script expects there
(DOM clobbering; https://html.spec.whatwg.org/multipage/nav-history-apis.html#named-access-on-the-window-object). With
a prefix that our pages do not use, links within an article work, and no other name is affected.
"""

from __future__ import annotations

import re

PREFIX = "user-content-"

_TAG = re.compile(r"<[a-z][^>]*>")
_OWN_NAME = re.compile(rf' (id="|href="#)(?!{PREFIX}|")')


def prefix_id(name: str) -> str:
    """Return an id, or the part of a URL after #, with the prefix; unchanged if it has the prefix already."""
    return name if name.startswith(PREFIX) else PREFIX + name


def prefix_ids(html: str) -> str:
    """Return clean HTML in which each id and each link to one has the prefix.

    html: as `clean` writes it, in this version or an older one that kept ids as they were. Angle brackets and quotes
    inside of values and texts are escaped there, so that tags and their attributes can be told without parsing.
    """
    if ' id="' not in html and ' href="#' not in html:
        return html
    return _TAG.sub(lambda tag: _OWN_NAME.sub(rf" \1{PREFIX}", tag[0]), html)
