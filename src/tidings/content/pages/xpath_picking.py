"""Picking on a page that is read by XPath: the picked element is found by CSS selectors, which are then translated.

    page ─► lxml, elements numbered by an attribute ─► HTML ─► the same outline and picking as for CSS ─► XPath

Numbers come from lxml, since its tree differs from that of browsers: it adds no `tbody`, for example.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, Final

from lxml import etree
from lxml.etree import _Element
from selectolax.lexbor import LexborNode

from tidings.content.pages.outline import MAX_ELEMENTS, NumberedPage
from tidings.content.pages.picking import MAX_MARKED, Pick, Picked, pick_on
from tidings.content.pages.selectors import PageSelectors, compile_xpath
from tidings.content.pages.trees import XPathTree

_ATTRIBUTE: Final = "data-tidings-number"
_FINAL_ATTRIBUTE: Final = re.compile(r"(?<=[^/])/@[\w:.-]+$|^@[\w:.-]+$")
# All that `picking` writes.
_COMPOUND: Final = re.compile(
    r"(?P<tag>\*|[a-z][a-z0-9-]*)?(?:#(?P<id>[\w-]+))?(?:\.(?P<name>[\w-]+))?(?::nth-of-type\((?P<place>\d+)\))?"
)


class XPathPage:
    """A page whose elements have numbers, with XPath to find them."""

    def __init__(self, source: str) -> None:
        self._root = XPathTree(source).root
        etree.strip_attributes(self._root, _ATTRIBUTE)
        self._elements = dict(enumerate(islice(self._root.iter("*"), MAX_ELEMENTS)))
        for number, element in self._elements.items():
            element.set(_ATTRIBUTE, str(number))
        markup = str(etree.tostring(self._root, encoding="unicode", method="html"))
        self.numbered = NumberedPage(markup, number_attribute=_ATTRIBUTE)

    def numbers(self, xpath: str, context: _Element | None = None) -> list[int]:
        """Return the numbers of what an expression finds. An attribute counts as its element."""
        try:
            found = compile_xpath(_FINAL_ATTRIBUTE.sub("", xpath) or ".")(self._root if context is None else context)
        except etree.XPathError:
            # The result says what is wrong.
            return []
        elements = found if isinstance(found, list) else []
        return [int(str(one.get(_ATTRIBUTE))) for one in elements if isinstance(one, _Element) and one.get(_ATTRIBUTE)]

    def items(self, xpath: str) -> list[LexborNode]:
        """Return the items. Raises InvalidInput if the expression cannot be read."""
        nodes = (self.numbered.elements.get(number) for number in self.numbers(xpath))
        return [node for node in nodes if node is not None]

    def element(self, number: int) -> _Element:
        return self._elements[number]


def pick_xpath(source: str, wanted: Pick) -> Picked:
    """Return the selectors with the picked part, as XPath."""
    page = XPathPage(source)
    picked = pick_on(page.numbered, wanted, page.items)
    before = wanted.selectors if wanted.part != "item" else {}
    return Picked(
        {
            name: part if part == before.get(name) else _translated(name, part)
            for name, part in picked.selectors.items()
        },
        picked.problem,
    )


def xpath_marks(source: str, selectors: PageSelectors) -> dict[str, list[int]]:
    """Return the numbers of the items and of what the fields find in them, by part."""
    page = XPathPage(source)
    items = page.numbers(selectors.item)[:MAX_MARKED]
    found: dict[str, list[int]] = {"item": items}
    elements = [page.element(number) for number in items]
    for name, field in selectors.fields.items():
        each = (page.numbers(field.selector or ".", element)[:1] for element in elements)
        found[name] = [number for one in each for number in one]
    return found


def _translated(name: str, part: Any) -> Any:
    if isinstance(part, dict):
        return part | {"selector": xpath_of(str(part.get("selector", "")), is_item=False)}
    return xpath_of(str(part), is_item=name == "item")


def xpath_of(selector: str, *, is_item: bool) -> str:
    """Return a CSS selector of `picking` as XPath. is_item: it begins at the page, rather than at an item."""
    path, _, attribute = selector.partition("@")
    path = path.strip()
    if path in ("", "."):
        return f"@{attribute}" if attribute else "."
    steps, axis, condition, is_left_out = ["" if is_item else "."], "//", "", False
    for compound in path.split():
        if compound == ">":
            axis = axis if is_left_out else "/"
        elif compound == "body":
            # lxml has none in pages without its tag.
            is_left_out = True
        elif compound == "tbody":
            # Browsers add it, lxml does not.
            is_left_out, axis, condition = True, "//", "[not(parent::thead)]"
        else:
            steps.append(f"{axis}{_step(compound)}{condition}")
            is_left_out, axis, condition = False, "//", ""
    return "".join(steps) + (f"/@{attribute}" if attribute else "")


def _step(compound: str) -> str:
    found = _COMPOUND.fullmatch(compound)
    assert found is not None, compound
    step = found["tag"] or "*"
    if found["id"]:
        step += f"[@id='{found['id']}']"
    if found["name"]:
        step += f"[contains(concat(' ', normalize-space(@class), ' '), ' {found['name']} ')]"
    return step + (f"[{found['place']}]" if found["place"] else "")
