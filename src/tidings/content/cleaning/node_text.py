"""Short looks at the text of an element, which never read more than a part of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborNode

# Nodes that are looked at. An element with more is not small.
_MAX_NODES: Final = 2_000


def nodes_in(root: LexborNode) -> Iterator[LexborNode]:
    """Yield the nodes inside an element in document order."""
    node = root.first_child
    above: list[LexborNode] = []
    while node is not None:
        yield node
        child = node.first_child
        if child is not None:
            above.append(node)
            node = child
            continue
        following = node.next
        while following is None and above:
            following = above.pop().next
        node = following


def has_short_text(root: LexborNode, max_chars: int) -> bool:
    """Return whether an element is small and its text is at most so long, without blanks around."""
    length = 0
    for count, node in enumerate(nodes_in(root)):
        if node.is_text_node:
            length += len((node.text_content or "").strip())
        if length > max_chars or count > _MAX_NODES:
            return False
    return True


def has_line_feed(root: LexborNode) -> bool:
    """Return whether a line feed separates words in the first part of an element's text."""
    nodes = islice(nodes_in(root), _MAX_NODES)
    return "\n" in "".join(node.text_content or "" for node in nodes if node.is_text_node).strip()


def has_only_digits(root: LexborNode) -> bool:
    """Return whether an element is small and its text is of digits and blanks only, or empty."""
    for count, node in enumerate(nodes_in(root)):
        if count > _MAX_NODES:
            return False
        if node.is_text_node:
            text = (node.text_content or "").strip()
            if text and not (text.isascii() and "".join(text.split()).isdigit()):
                return False
    return True
