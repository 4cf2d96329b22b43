"""Rewrite rules for images."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Final
from urllib.parse import parse_qsl

from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.content.rules.evaluation import split_url
from tidings.content.rules.rewrites.markup import attribute, on_tree, replace_with_html
from tidings.content.rules.selectors import nearest_ancestors

# Attributes in which scripts keep the URL of an image until it scrolls into view. Earlier ones take precedence.
_LAZY_SOURCES: Final = (
    "data-src",
    "data-original",
    "data-orig",
    "data-url",
    "data-orig-file",
    "data-large-file",
    "data-medium-file",
    "data-original-mos",
)
_LAZY_SET: Final = "data-srcset"
_SIZED_SOURCE: Final = re.compile(r"data-([0-9]{2,4})src")


@on_tree
def add_image_title(tree: LexborHTMLParser) -> None:
    for image in tree.css("img[title]"):
        if title := attribute(image, "title"):
            caption = f"<figcaption><p>{escape(title)}</p></figcaption>"
            replace_with_html(image, f"<figure>{image.html}{caption}</figure>")


@on_tree
def add_dynamic_image(tree: LexborHTMLParser) -> None:
    is_changed = False
    # Inner elements first: a node must not be used after its parent is removed.
    for node in reversed(tree.css("img, div")):
        is_changed |= _show_lazy_image(node)
    if not is_changed:
        for fallback in tree.css("noscript"):
            if [child.tag for child in _children(fallback) if child.is_element_node] == ["img"]:
                fallback.unwrap()


@on_tree
def show_noscript_pictures(tree: LexborHTMLParser) -> None:
    """In figures, removes placeholders and unwraps the images in `noscript`."""
    pictures, fallbacks = tree.css("img"), tree.css("noscript")
    fallback_of = nearest_ancestors(pictures, fallbacks)
    figure_of = nearest_ancestors([*pictures, *fallbacks], tree.css("figure"))
    filled = set(fallback_of.values()) & figure_of.keys()
    useful = [fallback for fallback in fallbacks if fallback.mem_id in filled]
    figures = {figure_of[fallback.mem_id] for fallback in useful}
    for picture in pictures:
        if picture.mem_id not in fallback_of and figure_of.get(picture.mem_id) in figures:
            picture.decompose()
    for fallback in useful:
        fallback.unwrap()


@on_tree
def remove_img_blur_params(tree: LexborHTMLParser) -> None:
    for image in tree.css("img[src]"):
        source = attribute(image, "src")
        parts = split_url(source)
        if any(name == "blur" and _is_positive(value) for name, value in _query(parts.query)):
            image.attrs["src"] = parts._replace(query="").geturl()


def _show_lazy_image(node: LexborNode) -> bool:
    source, candidates = _lazy_source(node), attribute(node, _LAZY_SET)
    if not source and not candidates:
        return False
    if node.tag == "img":
        if source:
            node.attrs["src"] = source
        if candidates:
            node.attrs["srcset"] = candidates
        return True
    attributes = f' src="{escape(source)}"' if source else ""
    attributes += f' srcset="{escape(candidates)}"' if candidates else ""
    replace_with_html(node, f'<img{attributes} alt="{escape(attribute(node, "alt"))}">')
    return True


def _lazy_source(node: LexborNode) -> str:
    for name in _LAZY_SOURCES:
        if source := attribute(node, name):
            return source
    sized = [(int(match[1]), name) for name in node.attributes if (match := _SIZED_SOURCE.fullmatch(name))]
    return next((source for _, name in sorted(sized, reverse=True) if (source := attribute(node, name))), "")


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def _query(query: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query, max_num_fields=100)
    except ValueError:
        return []


def _is_positive(value: str) -> bool:
    return value.isascii() and value.isdigit() and value.strip("0") != ""
