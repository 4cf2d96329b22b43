"""The bookmark cards of the Ghost blog engine, made into plain links.

A card is a figure of title, description, author, publisher and two pictures inside one link; without its
style sheet it is a heap of loose words. The class names are those of Ghost's editor.
"""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.domain.rules.markup import attribute, link, on_tree, replace_with_html
from tidings.domain.rules.selectors import nearest


@on_tree
def fix_ghost_cards(tree: LexborHTMLParser) -> None:
    """A card alone becomes a link, cards that follow each other a list of links."""
    cards = tree.css(".kg-bookmark-card")
    nested = nearest(cards, cards)
    for group in _groups([card for card in cards if card.mem_id not in nested]):
        items = "".join(f"<li>{_as_link(card)}</li>" for card in group)
        html = f"<ul>{items}</ul>" if len(group) > 1 else f"<p>{_as_link(group[0])}</p>"
        for card in group[1:]:
            card.decompose()
        replace_with_html(group[0], html)


def _groups(cards: list[LexborNode]) -> list[list[LexborNode]]:
    """Cards that can be made a link, those with nothing but space between them together."""
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
    """Empty for a card without an address or a title."""
    container = card.css_first("a[href]")
    title = _words(card, ".kg-bookmark-title")
    if container is None or not title:
        return ""
    source = _words(card, ".kg-bookmark-author") or _words(card, ".kg-bookmark-publisher")
    return link(attribute(container, "href"), f"{title} ({source})" if source else title)


def _words(card: LexborNode, selector: str) -> str:
    found = card.css_first(selector)
    return " ".join(found.text().split()) if found is not None else ""
