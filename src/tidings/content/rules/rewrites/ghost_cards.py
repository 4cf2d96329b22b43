"""Converts the bookmark cards of the Ghost blog engine into plain links.

A card is a figure of title, description, author, publisher and two images inside one link; without its style sheet
the texts run together. The class names come from Ghost's editor.
"""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.content.rules.rewrites.markup import attribute, link, on_tree, replace_with_html
from tidings.content.rules.selectors import nearest_ancestors


@on_tree
def fix_ghost_cards(tree: LexborHTMLParser) -> None:
    """Converts single cards into links, and consecutive cards into a list of links."""
    cards = tree.css(".kg-bookmark-card")
    nested = nearest_ancestors(cards, cards)
    for group in _groups([card for card in cards if card.mem_id not in nested]):
        items = "".join(f"<li>{_as_link(card)}</li>" for card in group)
        html = f"<ul>{items}</ul>" if len(group) > 1 else f"<p>{_as_link(group[0])}</p>"
        for card in group[1:]:
            card.decompose()
        replace_with_html(group[0], html)


def _groups(cards: list[LexborNode]) -> list[list[LexborNode]]:
    """Return the convertible cards, grouped: cards with only blanks between them are in one group."""
    groups: list[list[LexborNode]] = []
    last: LexborNode | None = None
    for card in cards:
        if not _as_link(card):
            continue
        before = _neighbour_before(card)
        if last is not None and before is not None and before.mem_id == last.mem_id:
            groups[-1].append(card)
        else:
            groups.append([card])
        last = card
    return groups


def _neighbour_before(node: LexborNode) -> LexborNode | None:
    before = node.prev
    while before is not None and before.is_text_node and not (before.text_content or "").strip():
        before = before.prev
    return before


def _as_link(card: LexborNode) -> str:
    """Return the link of a card; "" for a card without URL or title."""
    container = card.css_first("a[href]")
    title = _words(card, ".kg-bookmark-title")
    if container is None or not title:
        return ""
    source = _words(card, ".kg-bookmark-author") or _words(card, ".kg-bookmark-publisher")
    return link(attribute(container, "href"), f"{title} ({source})" if source else title)


def _words(card: LexborNode, selector: str) -> str:
    element = card.css_first(selector)
    return " ".join(element.text().split()) if element is not None else ""
