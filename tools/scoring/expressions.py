"""Score against `feeds-expressions`: small feeds, each with a Python expression about one oddity.

    python -m scoring.expressionsprints the table and the misses

The expressions use the names of another library. Those about fields that we have are asked of a record that answers
under these names; the rest does not count, nor does `sanitize`, which is about cleaning HTML.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from msgspec import Struct

from scoring.archives import members
from scoring.claims import Claim, misses, table
from scoring.records import record
from tidings.content.errors import FeedError
from tidings.content.formats import parse_feed
from tidings.content.formats.charset import decode

ARCHIVE = "feeds-expressions"
_NOT_PARSING = ("wellformed/sanitize/",)
_ADDRESS = "http://127.0.0.1:8097/feed/document.xml"

# Intended differences: the reason, by document.
REASONS = {
    "encoding/bozo_linenoise": "bytes without meaning are not guessed in the same way",
    "entities/lang": "the character HTML 5 has for it",
    "entities/rang": "the character HTML 5 has for it",
    "wellformed/atom/entry_link_no_href": "two entries with nothing but one link are one",
    "wellformed/atom10/entry_link_no_href": "two entries with nothing but one link are one",
    "wellformed/node_precedence": "two entries that say the same are one",
    "wellformed/lang/entry_content_xml_lang_blank_3": "two entries that say the same are one",
    "wellformed/atom10/entry_category_term": "the label is preferred",
    "wellformed/atom10/entry_content_and_summary": "one body per entry: the content",
    "wellformed/rss/item_description_and_summary": "one body per item",
    "wellformed/rss/item_summary_and_description": "one body per item",
    "wellformed/atom10/tag_in_attr": "titles are plain text",
    "wellformed/base/cdf_item": "the base of a CDF document is not read",
    "wellformed/base/http_entry_id": "an id is compared as it is written (RFC 4287, section 4.2.6.1)",
    "wellformed/base/http_item_comments": "relative addresses of comments are dropped, as the contract has it",
    "wellformed/feedburner": "a note to people without a reader",
    "wellformed/itunes/itunes_channel_link_image": "an early draft of the vocabulary",
    "wellformed/itunes/itunes_item_link_image": "an early draft of the vocabulary",
    "wellformed/rss/item_description_not_a_doctype": "the cleaner's business",
    "wellformed/rss/item_madeup_tags": "not a vocabulary in use",
}

_EXPECTATION = re.compile(r"^\s*Expect:\s*(.+)$", re.MULTILINE)
_HEADER = re.compile(r"^\s*Header:\s*([\w-]+):[ \t]*(.*)$", re.MULTILINE)
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.-]+)""", re.IGNORECASE)

# Fields that we have, as paths without indexes.
_OURS = frozenset(
    {"version", "len", "feed.title", "feed.title_detail.value", "feed.tagline", "feed.subtitle",
     "feed.description", "feed.info", "feed.link", "feed.language", "feed.icon", "feed.logo", "feed.image.href",
     "feed.image.url", "feed.ttl", "entries", "entries.title", "entries.title_detail.value", "entries.link",
     "entries.description", "entries.summary", "entries.summary_detail.value", "entries.summary_detail.base",
     "entries.content.value", "entries.content.base", "entries.content.language", "entries.id", "entries.guid",
     "entries.author", "entries.comments", "entries.category", "entries.tags.term", "entries.published_parsed",
     "entries.updated_parsed", "entries.created_parsed", "entries.image.href", "entries.enclosures.href",
     "entries.enclosures.url", "entries.enclosures.type", "entries.enclosures.length"}
)  # fmt: skip


class Case(Struct, frozen=True):
    """expression: without the parts about well-formedness, which we do not report."""

    name: str
    source: bytes
    url: str
    charset: str | None
    expression: str


def cases() -> Iterator[Case]:
    """Yield the documents of the corpus whose expression is about fields that we have."""
    for name, source in members(ARCHIVE):
        comment = decode(source)[:4000]
        match = _EXPECTATION.search(comment)
        if match is None or name.startswith(_NOT_PARSING):
            continue
        expression = _without_bozo(match[1].strip())
        if expression and set(_paths(ast.parse(expression, mode="eval"))) <= _OURS:
            headers = _headers(comment)
            if "content-language" not in headers:
                yield Case(name, source, *_where_from(headers), expression)


def where_from(source: bytes) -> tuple[str, str | None]:
    """Return the URL and the charset that a document of the corpus declares for itself."""
    return _where_from(_headers(decode(source)[:4000]))


def _headers(comment: str) -> dict[str, str]:
    return {key.lower(): value for key, value in _HEADER.findall(comment)}


def _where_from(headers: dict[str, str]) -> tuple[str, str | None]:
    charset = _CHARSET.search(headers.get("content-type", ""))
    location = headers.get("content-location", "")
    return (location if location.startswith("http") else _ADDRESS), charset[1] if charset else None


def claims() -> Iterator[Claim]:
    for case in cases():
        folder = case.name.rpartition("/")[0]
        yield Claim(f"{case.name}: {case.expression}", folder, expected=True, found=_holds(case))


def _holds(case: Case) -> object:
    """Return True if the expression holds, otherwise what went wrong."""
    try:
        names = record(parse_feed(case.source, url=case.url, charset=case.charset))
        return bool(eval(case.expression, {"__builtins__": {"len": len}}, names)) or "something else"
    except (FeedError, LookupError, AttributeError, TypeError) as error:
        return repr(error)


def _without_bozo(expression: str) -> str:
    """Yield the parts of a conjunction that are about the parsed feed."""
    tree = ast.parse(expression, mode="eval").body
    parts = tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]
    return " and ".join(f"({ast.unparse(part)})" for part in parts if "bozo" not in ast.unparse(part))


def _paths(node: ast.AST) -> Iterator[str]:
    """Yield the fields that an expression uses, such as `entries.title`."""
    if path := _path(node):
        yield path
        return
    for child in ast.iter_child_nodes(node):
        yield from _paths(child)


def _path(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return _joined(_path(value), name)
        case ast.Subscript(value=value, slice=ast.Constant(value=str() as name)):
            return _joined(_path(value), name)
        case ast.Subscript(value=value, slice=ast.Constant(value=int()) | ast.UnaryOp()):
            return _path(value)
    return ""


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else ""


def main() -> None:
    found = list(claims())
    sys.stdout.write(f"{table(found)}\n\n{misses(found, REASONS)}\n")


if __name__ == "__main__":
    main()
