"""The query language of searches, views and rules: reads a query into a tree, writes it back, tests entries with it.

    from tidings.query import Candidate, Matcher, normal_form, parse

    tree = parse("title:rain (is:starred OR published:7d) -has:audio")
    normal_form(tree)
    Matcher(tree, now=now, zone=zone).matches(Candidate(title="Rain tomorrow", …))

parse         a query ─► its tree; raises QueryError with the position and what was expected there
normal_form   a tree ─► the query in its usual spelling; `parse` makes the same tree of it
Matcher       a tree ─► whether an entry in memory matches
Candidate     what a query can ask about an entry

The nodes of trees are in `tidings.query.model`. Words are folded and stemmed by `tidings.content.search`, so that a
matcher and the full-text index of a database agree. Nothing here does I/O or asks what time it is.
"""

from __future__ import annotations

from tidings.query.errors import QueryError
from tidings.query.evaluate import Candidate, Matcher
from tidings.query.model import Tree
from tidings.query.normal_form import normal_form
from tidings.query.parser import parse

__all__ = ["Candidate", "Matcher", "QueryError", "Tree", "normal_form", "parse"]
