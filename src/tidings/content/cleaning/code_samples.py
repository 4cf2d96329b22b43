"""Code that a script on the publisher's page has laid out: its lines as blocks or rows, with numbers next to them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from msgspec import Struct
from selectolax.lexbor import LexborNode

from tidings.base.text import name_set
from tidings.content.cleaning.attribute_checks import Attributes
from tidings.content.cleaning.node_text import has_only_digits

_LINE_CLASSES: Final = name_set("line code-line token-line cm-line codemirror-line ec-line view-line")
_NUMBER_CLASSES: Final = name_set("""
    blob-num crayon-num gl gutter hljs-ln-numbers line-number line-numbers linenr lineno linenos linenumber
    linenumbers ln lnt lnr react-syntax-highlighter-line-number rouge-gutter
""")
_CODE_CLASSES: Final = name_set("""
    blob-code blob-code-inner code code-line crayon-code hljs-ln-code line-code rouge-code
""")
_LINES: Final = name_set("div p li tr pre ol ul")
_LEFT_OUT: Final = name_set("-comment !-- script style template button noscript textarea select svg title")
_CELLS: Final = name_set("td th")
_MAX_CELLS: Final = 2
_MAX_CLASS_CHARS: Final = 500
_CHECKED_ROWS: Final = 3


class CodeTable(Struct, frozen=True):
    """A table that shows lines of code, as text."""

    text: str
    classes: str
    """The classes of its code, one of which may name the language."""


def has_meaning(classes: str) -> bool:
    """Return whether one of the classes says what an element next to code is."""
    return _has_class(classes, is_number=True) or _has_class(classes, is_number=False)


def is_line(attributes: Attributes) -> bool:
    """Return whether an element inside of `pre` is a line of code by its class."""
    classes = attributes.get("class")
    return classes is not None and _has_class(classes, is_number=False)


def is_line_number(node: LexborNode, attributes: Attributes) -> bool:
    """Return whether an element next to code is marked as its line number; `style_marks` has one more mark."""
    classes = attributes.get("class")
    is_marked = (
        (classes is not None and _has_class(classes, is_number=True))
        or "aria-hidden" in attributes
        or "data-line-number" in attributes
    )
    return is_marked and has_only_digits(node)


@lru_cache(maxsize=1_024)
def _has_class(classes: str, *, is_number: bool) -> bool:
    names = _NUMBER_CLASSES if is_number else _LINE_CLASSES
    return not names.isdisjoint(classes[:_MAX_CLASS_CHARS].lower().split())


def read_code_table(table: LexborNode, *, is_in_pre: bool) -> CodeTable | None:
    """Return the code of a table: a row for each line, or one row with all numbers and all code. None for others."""
    first = table.css_first("tr")
    if first is None or not _is_code_row(first, is_in_pre=is_in_pre):
        return None
    rows = _rows(first)
    if not all(_is_code_row(row, is_in_pre=is_in_pre) for row in rows[:_CHECKED_ROWS]):
        return None
    cells = [_cells(row) for row in rows]
    if any(len(each) > _MAX_CELLS for each in cells):
        return None
    lines = [_code_text(each[-1]) if each else "" for each in cells]
    return CodeTable("\n".join(lines), _classes(cells[0][-1]))


def _rows(first: LexborNode) -> list[LexborNode]:
    """Return the rows of a table from its first one on, without the rows of tables in it."""
    rows: list[LexborNode] = []
    group = first.parent
    row: LexborNode | None = first
    while row is not None or group is not None:
        while row is not None:
            if row.tag == "tr":
                rows.append(row)
            row = row.next
        if group is None or group.tag == "table":
            break
        group = group.next
        row = group.first_child if group is not None else None
    return rows


def _is_code_row(row: LexborNode, *, is_in_pre: bool) -> bool:
    cells = _cells(row)
    if not 1 <= len(cells) <= _MAX_CELLS:
        return False
    code = cells[-1]
    has_numbers = len(cells) == _MAX_CELLS and has_only_digits(cells[0])
    if len(cells) == _MAX_CELLS and not has_numbers:
        return False
    is_named = not _CODE_CLASSES.isdisjoint((code.attributes.get("class") or "").lower().split())
    return is_in_pre or is_named or (has_numbers and _is_all_pre(code, cells[0]))


def _is_all_pre(code: LexborNode, numbers: LexborNode) -> bool:
    """Return whether both cells hold preformatted text: numbers in one, code in the other."""
    return code.css_first("pre, code") is not None and numbers.css_first("pre, code, div, span") is not None


def _cells(row: LexborNode) -> list[LexborNode]:
    cells: list[LexborNode] = []
    cell = row.first_child
    while cell is not None and len(cells) <= _MAX_CELLS:
        if cell.tag in _CELLS:
            cells.append(cell)
        cell = cell.next
    return cells


def _classes(cell: LexborNode) -> str:
    inner = cell.css_first("code[class], pre[class]")
    return " ".join(each.attributes.get("class") or "" for each in (cell, inner) if each is not None)


def _code_text(cell: LexborNode) -> str:
    """Return the code in a cell, with a line for each element that is a block."""
    parts: list[str] = []
    has_ended = False
    above: list[LexborNode] = []
    node = cell.first_child
    while node is not None:
        child = None
        if node.is_text_node:
            text = (node.text_content or "").replace("\xa0", " ")
            if has_ended and parts and not parts[-1].endswith("\n"):
                parts.append("\n")
            has_ended = has_ended and not text
            parts.append(text)
        elif node.tag == "br":
            parts.append("\n")
            has_ended = False
        elif node.tag not in _LEFT_OUT and not is_line_number(node, node.attributes):
            has_ended |= node.tag in _LINES
            child = node.first_child
        if child is not None:
            above.append(node)
            node = child
            continue
        following = node.next
        while following is None and above:
            node = above.pop()
            has_ended |= node.tag in _LINES
            following = node.next
        node = following
    return "".join(parts).removesuffix("\n")
