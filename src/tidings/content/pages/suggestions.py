"""Suggests selectors for what a page repeats: the cards, rows and list items that may be the items of a feed.

elements | groups of siblings that look the same | scores | a selector of the group | selectors of its fields
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.content.cleaning.sanitize import limit_nesting
from tidings.content.discovery.page_links import page_text
from tidings.content.errors import PageUnreadable
from tidings.content.formats.json_feed import as_text
from tidings.content.formats.text import collapse_whitespace
from tidings.content.model import PageKind
from tidings.content.pages.selectors import DEFAULT_SCRIPT
from tidings.content.pages.trees import JsonTree, json_in_page, json_tree

MAX_SUGGESTIONS: Final = 5
# Fewer alike are not a list.
_MIN_ALIKE: Final = 3
# A list in JSON may have few objects, and is one nevertheless.
_MIN_OBJECTS: Final = 2
_MAX_ELEMENTS: Final = 50_000
_MAX_SCORED: Final = 40
SAMPLE: Final = 10
_MAX_EXAMPLES: Final = 5
_MAX_EXAMPLE_CHARS: Final = 120

ITEM_TAGS: Final = frozenset({"li", "article", "div", "section", "tr", "a", "dt", "figure", "p", "h2", "h3", "h4"})
_NOT_CONTENT: Final = frozenset({"nav", "header", "footer", "aside", "form", "script", "style", "svg", "select"})
_NAMED_NAVIGATION: Final = re.compile(
    r"(?:^|[\s_-])(?:nav|menu|footer|header|sidebar|breadcrumbs?|pagination|pager|social|tags?|cookie)(?:$|[\s_-])",
    re.IGNORECASE,
)
# Classes that a name in CSS may have without an escape, and that do not look generated or counted.
_USABLE_CLASS: Final = re.compile(r"(?!(?:odd|even|first|last|active|current|new)$)-?[A-Za-z_][A-Za-z_-]{1,40}")
_DATE_CLASS: Final = re.compile(r"date|time|when|posted|publish", re.IGNORECASE)
_CONTENT_CLASS: Final = re.compile(r"summar|excerpt|desc|teaser|intro|lead|body|text", re.IGNORECASE)
_AUTHOR_CLASS: Final = re.compile(r"author|byline|writer", re.IGNORECASE)
_TAG_CLASS: Final = re.compile(r"tag|categor|topic", re.IGNORECASE)

_JSON_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "title": ("title", "headline", "name", "subject"),
    "link": ("url", "link", "href", "permalink", "canonicalUrl", "html_url", "path", "slug"),
    "content": ("content_html", "content", "body", "description", "summary", "excerpt", "text"),
    "author": ("author", "byline", "creator", "user"),
    "date": ("date_published", "datePublished", "published_at", "publishedAt", "pubDate", "published", "date",
             "created_at", "createdAt", "updated_at", "timestamp"),
    "image": ("image", "thumbnail", "cover", "picture", "imageUrl"),
    "id": ("id", "guid", "uuid", "_id"),
    "tags": ("tags", "categories", "keywords"),
}  # fmt: skip
# What an object in place of a text has it under.
_JSON_INNER: Final = ("name", "title", "url", "rendered", "src", "href")
_JSON_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Suggestion(Struct, frozen=True):
    """Selectors that may be what the user wants."""

    kind: PageKind
    selectors: dict[str, str]
    items: int
    examples: tuple[str, ...]
    """Titles of the first items."""


def suggest(body: bytes, charset: str = "") -> list[Suggestion]:
    """Return suggestions for a page or JSON, the likeliest first; none if nothing repeats."""
    source = page_text(body, charset or None)
    if source.lstrip()[:1] in ("{", "["):
        try:
            return _in_json(json_tree(source), PageKind.JSON)
        except PageUnreadable:
            return []
    found = _in_html(source)
    try:
        in_scripts = _in_json(json_in_page(source, DEFAULT_SCRIPT), PageKind.JSON_IN_HTML)
    except PageUnreadable:
        in_scripts = []
    return [*found[: MAX_SUGGESTIONS - len(in_scripts[:2])], *in_scripts[:2]]


def repeated(source: str) -> tuple[str, ...]:
    """Return the selectors of what a page repeats, each with its number, for the message of an error."""
    return tuple(f"{one.selectors['item']} ({one.items})" for one in _in_html(source))


# HTML


class _Group(Struct):
    """Elements that look the same."""

    selector: str
    nodes: list[LexborNode]
    score: float = 0


def _in_html(source: str) -> list[Suggestion]:
    tree = LexborHTMLParser(limit_nesting(source))
    suggestions: list[Suggestion] = []
    seen: list[set[int]] = []
    for group in sorted(_groups(tree), key=lambda group: -group.score):
        ids = {node.mem_id for node in group.nodes}
        if any(len(ids & others) > len(ids) / 2 for others in seen):
            continue
        seen.append(ids)
        suggestions.append(_of_group(group))
        if len(suggestions) == MAX_SUGGESTIONS:
            break
    return suggestions


def _groups(tree: LexborHTMLParser) -> Iterator[_Group]:
    """Yield the groups that may be items: siblings with the same name, by the class that most of them have."""
    by_parent: dict[tuple[int, str], list[LexborNode]] = defaultdict(list)
    for node in islice(tree.css("*"), _MAX_ELEMENTS):
        parent = node.parent
        if node.tag in ITEM_TAGS and parent is not None:
            by_parent[parent.mem_id, node.tag].append(node)
    selectors: dict[str, int] = {}
    for nodes in by_parent.values():
        if len(nodes) >= _MIN_ALIKE and (selector := selector_of(nodes)):
            selectors[selector] = max(selectors.get(selector, 0), len(nodes))
    # The same cards may be in several lists, such as one for each day.
    for each in _alone(by_parent.values()):
        selectors.setdefault(each, 0)
    for selector in sorted(selectors, key=lambda one: -selectors[one])[:_MAX_SCORED]:
        group = _Group(selector, tree.css(selector))
        if len(group.nodes) >= _MIN_ALIKE and (score := likelihood(group.nodes)):
            group.score = score
            yield group


def _alone(groups: Iterable[Sequence[LexborNode]]) -> Iterator[str]:
    """Yield selectors of elements that are few in each parent, and many on the page."""
    counts: Counter[str] = Counter()
    for nodes in groups:
        if len(nodes) < _MIN_ALIKE:
            for node in nodes:
                counts.update({f"{node.tag}.{each}" for each in usable_classes(node)} or {node.tag or ""})
    for selector, count in counts.items():
        if count >= _MIN_ALIKE and ("." in selector or selector == "article"):
            yield selector


def selector_of(nodes: Sequence[LexborNode]) -> str:
    tag, parent = nodes[0].tag or "", nodes[0].parent
    counts = Counter(each for node in nodes for each in usable_classes(node))
    for each, count in counts.most_common(1):
        if count >= max(_MIN_ALIKE, len(nodes) / 2):
            return f"{tag}.{each}"
    while parent is not None and parent.tag not in (None, "html"):
        name = parent.attributes.get("id") or ""
        if _USABLE_CLASS.fullmatch(name):
            return f"#{name} > {tag}" if parent.mem_id == _parent_id(nodes[0]) else f"#{name} {tag}"
        for each in usable_classes(parent):
            direct = parent.mem_id == _parent_id(nodes[0])
            return f"{parent.tag}.{each} > {tag}" if direct else f"{parent.tag}.{each} {tag}"
        parent = parent.parent
    direct_parent = nodes[0].parent
    return f"{direct_parent.tag} > {tag}" if direct_parent is not None else tag


def _parent_id(node: LexborNode) -> int:
    return node.parent.mem_id if node.parent is not None else 0


def usable_classes(node: LexborNode) -> list[str]:
    names = (node.attributes.get("class") or "").split()
    return [name for name in names[:20] if _USABLE_CLASS.fullmatch(name)]


def likelihood(nodes: Sequence[LexborNode]) -> float:
    """Return how likely the elements are items: linked, with different texts of some length, not navigation."""
    sample = nodes[:SAMPLE]
    links = [link for node in sample if (link := main_link(node))]
    if len(links) < len(sample) / 2:
        return 0
    texts = [_text(node) for node in sample]
    distinct = len(set(texts)) / len(texts)
    length = sum(min(len(text), 400) for text in texts) / len(texts)
    title_length = sum(min(len(_text(_title_node(node) or node)), 80) for node in sample) / len(sample)
    if title_length < 8:
        return 0
    score: float = math.sqrt(min(len(nodes), 30)) * (title_length + length / 8) * distinct
    if any(node.css_first("time, h1, h2, h3, h4") for node in sample):
        score *= 2
    # Around a list there is often an element that repeats too, with several links of the same weight in each.
    crowded = sum(len(node.css("h1, h2, h3, h4")) > 1 for node in sample)
    score /= 1 + 3 * crowded / len(sample)
    return score / 10 if _is_navigation(sample[0]) else score


def _is_navigation(node: LexborNode) -> bool:
    current: LexborNode | None = node
    while current is not None:
        names = f"{current.attributes.get('class') or ''} {current.attributes.get('id') or ''}"
        if current.tag not in ("html", "body") and (
            current.tag in _NOT_CONTENT or (len(names) < 500 and _NAMED_NAVIGATION.search(names))
        ):
            return True
        current = current.parent
    return False


def _text(node: LexborNode) -> str:
    return collapse_whitespace(node.text()[:2_000])


def _title_node(item: LexborNode) -> LexborNode | None:
    """Return the element that has the title: the first heading, or else the link with the longest text."""
    return item.css_first("h1, h2, h3, h4, h5, h6") or main_link(item)


def main_link(item: LexborNode) -> LexborNode | None:
    if item.tag == "a":
        return item
    links = item.css("a[href]")[:20]
    return max(links, key=lambda link: min(len(_text(link)), 200), default=None)


def _of_group(group: _Group) -> Suggestion:
    sample = group.nodes[:SAMPLE]
    selectors = {"item": group.selector, **common_fields(sample)}
    titles = (_text(_title_node(node) or node)[:_MAX_EXAMPLE_CHARS] for node in group.nodes)
    examples = tuple(islice((title for title in titles if title), _MAX_EXAMPLES))
    return Suggestion(PageKind.CSS, selectors, len(group.nodes), examples)


def common_fields(sample: Sequence[LexborNode]) -> dict[str, str]:
    """Return for each field the selector that suits most items, if it suits half of them."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for item in sample:
        for name, selector in _fields_of(item).items():
            votes[name][selector] += 1
    chosen = {}
    for name in ("title", "link", "date", "content", "image", "author", "tags"):
        for selector, count in votes[name].most_common(1):
            if count * 2 >= len(sample):
                chosen[name] = selector
    chosen.setdefault("title", ".")
    return chosen


def _fields_of(item: LexborNode) -> dict[str, str]:
    found = _title_and_link(item)
    for node in islice(item.css("*"), 100):
        if node.mem_id != item.mem_id and (part := _part(node)):
            name, selector = part
            if name not in found or node.tag == "time":
                found[name] = selector
    if "content" not in found and item.css_first("p") is not None:
        found["content"] = "p"
    return found


def _title_and_link(item: LexborNode) -> dict[str, str]:
    found: dict[str, str] = {}
    heading = item.css_first("h1, h2, h3, h4, h5, h6")
    link = main_link(item)
    if heading is not None:
        found["title"] = heading.tag or ""
    elif link is not None:
        found["title"] = "." if link.mem_id == item.mem_id else _name(link)
    if heading is not None and item.tag != "a" and heading.css_first("a[href]"):
        found["link"] = f"{heading.tag} a@href"
    elif link is not None:
        found["link"] = "@href" if link.mem_id == item.mem_id else f"{_name(link)}@href"
    return found


# The first that matches decides.
_CLASSES: Final = (("date", _DATE_CLASS), ("author", _AUTHOR_CLASS), ("tags", _TAG_CLASS), ("content", _CONTENT_CLASS))


def _part(node: LexborNode) -> tuple[str, str] | None:
    """Return the field that an element in an item has, and its selector; None if it does not say so."""
    if node.tag == "time":
        return "date", "time"
    if node.tag == "img":
        source = next((each for each in ("src", "data-src") if node.attributes.get(each)), "")
        return ("image", f"img@{source}") if source else None
    classes = " ".join(usable_classes(node))
    name, pattern = next((each for each in _CLASSES if each[1].search(classes)), ("", None))
    if pattern is None or (name == "content" and node.css_first("h1, h2, h3, h4, time") is not None):
        return None
    return name, _name(node, pattern)


def _name(node: LexborNode, wanted: re.Pattern[str] | None = None) -> str:
    """Return a selector of an element in its item: its class, if it says something, or its tag."""
    classes = usable_classes(node)
    named = [each for each in classes if wanted is None or wanted.search(each)]
    return f".{named[0]}" if named and wanted is not None else f"{node.tag}.{named[0]}" if named else node.tag or "a"


# JSON


def _in_json(tree: JsonTree, kind: PageKind) -> list[Suggestion]:
    found: list[tuple[float, Suggestion]] = []
    for document in tree.documents:
        for path, objects in _lists(document):
            fields = json_fields(objects[:SAMPLE])
            if not fields.keys() & {"title", "link"}:
                continue
            score = len(fields) * math.sqrt(min(len(objects), 30))
            titles = (as_text(_at(one, fields.get("title", ""))) for one in objects)
            examples = tuple(islice((title[:_MAX_EXAMPLE_CHARS] for title in titles if title), _MAX_EXAMPLES))
            found.append((score, Suggestion(kind, {"item": path, **fields}, len(objects), examples)))
    found.sort(key=lambda one: -one[0])
    return [one for _, one in found[:MAX_SUGGESTIONS]]


def _lists(document: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the lists of objects in a document, with the path of their objects."""
    stack: list[tuple[str, Any]] = [("$", document)]
    seen = 0
    while stack and seen < _MAX_ELEMENTS:
        path, value = stack.pop()
        seen += 1
        if isinstance(value, dict):
            stack.extend((f"{path}{json_step(str(name))}", each) for name, each in reversed(value.items()))
        elif isinstance(value, list):
            objects = [each for each in value if isinstance(each, dict)]
            if len(objects) >= _MIN_OBJECTS:
                yield f"{path}[*]", objects
            stack.extend((f"{path}[{number}]", each) for number, each in enumerate(value[:3]))


def json_fields(objects: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    fields = {}
    for name, candidates in _JSON_NAMES.items():
        for candidate in candidates:
            path = _path_of(candidate, [one.get(candidate) for one in objects])
            if path:
                fields[name] = path
                break
    return fields


def _path_of(name: str, values: Sequence[Any]) -> str:
    """Return the path of a field if half of the objects have a text there, "" otherwise."""
    if sum(bool(as_text(value)) for value in values) * 2 >= len(values):
        return name
    if sum(isinstance(value, list) and bool(value) and bool(as_text(value[0])) for value in values) * 2 >= len(values):
        return f"{name}[*]"
    for inner in _JSON_INNER:
        if sum(isinstance(value, dict) and bool(as_text(value.get(inner))) for value in values) * 2 >= len(values):
            return f"{name}.{inner}"
    return ""


def _at(value: Mapping[str, Any], path: str) -> Any:
    found: Any = value
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def json_step(name: str) -> str:
    """Return the step of a path to a name."""
    if _JSON_NAME.fullmatch(name):
        return f".{name}"
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    escaped = re.sub(r"[\x00-\x1f]", lambda control: f"\\u{ord(control[0]):04x}", escaped)
    return f"['{escaped}']"
