"""Emphasis that only a style or an old element carries."""

from __future__ import annotations

import pytest

from content.cleaning.trees import cleaned


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("You <strike>never</strike> mix.", "You <s>never</s> mix."),
        ("Type <tt>ls</tt>.", "Type <code>ls</code>."),
        ("A <big>large</big> word.", "A <big>large</big> word."),
    ],
)
def test_old_elements_keep_their_meaning(html: str, expected: str) -> None:
    assert cleaned(html) == expected


@pytest.mark.parametrize(
    ("style", "names"),
    [
        ("text-decoration: line-through", ["s"]),
        ("TEXT-DECORATION:Line-Through;", ["s"]),
        ("text-decoration-line: underline", ["u"]),
        ("color: red; text-decoration: underline line-through #f00", ["u", "s"]),
        ("font-weight:bold;color:red", ["b"]),
        ("font-weight: bolder", ["b"]),
        ("font-weight:700!important", ["b"]),
        ("font-style: italic", ["i"]),
        ("font-style: oblique 10deg", ["i"]),
        ("font: italic bold 12px/30px Georgia, serif", ["i", "b"]),
        ("vertical-align: sub", ["sub"]),
        ("font-size: 70%; vertical-align : super", ["sup"]),
        ("font-weight: normal; font-weight: bold", ["b"]),
    ],
)
@pytest.mark.parametrize("name", ["span", "font", "custom-mark", "small"])
def test_marks_of_a_style_become_elements(name: str, style: str, names: list[str]) -> None:
    marked = "".join(f"<{each}>" for each in names) + "x" + "".join(f"</{each}>" for each in reversed(names))
    kept = (f"<{name}>", f"</{name}>") if name == "small" else ("", "")
    assert cleaned(f'a<{name} style="{style}">x</{name}>b') == f"a{kept[0]}{marked}{kept[1]}b"


@pytest.mark.parametrize(
    "style",
    [
        "font-weight: normal; text-decoration: none",
        "font-weight: 400; font-style: normal",
        "font-weight: bold; font-weight: normal",
        "vertical-align: baseline",
        "vertical-align: middle",
        "font-family: 'Bold Italic'",
        "background: url(bold.png)",
        "text-decoration: overline",
        "x-font-weight: bold",
        "",
    ],
)
def test_other_styles_add_nothing(style: str) -> None:
    assert cleaned(f'<p>a <span style="{style}">x</span></p>') == "<p>a x</p>"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<ul><li style="text-decoration:line-through">a</li><li>b</li></ul>', "<ul><li><s>a</s></li><li>b</li></ul>"),
        ('<p style="font-weight:bold">a</p>', "<p><b>a</b></p>"),
        ('<div style="font-style:italic">a</div>b', "<i>a</i><br>b"),
        ('<div style="font-style:italic"><p>a</p><p>b</p></div>', "<i><p>a</p><p>b</p></i>"),
        (
            '<table><tr style="font-weight:bold"><td style="font-weight:bold">a</td></tr></table>',
            "<table><tbody><tr><td><b>a</b></td></tr></tbody></table>",
        ),
        ('<span dir="rtl" style="font-weight:bold">a</span>', '<span dir="rtl"><b>a</b></span>'),
        ('<td style="vertical-align:super">a</td><p style="vertical-align:sub">b</p>', "a<p>b</p>"),
        ('<a name="x" style="font-weight:bold">a</a>', "<b>a</b>"),
    ],
)
def test_marks_are_inside_of_blocks_and_cells(html: str, expected: str) -> None:
    assert cleaned(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<h2 style="font-weight:bold">a</h2>', "<h2>a</h2>"),
        ('<b><span style="font-weight:bold">a</span></b>', "<b>a</b>"),
        ('<strong style="font-weight:700">a</strong>', "<strong>a</strong>"),
        ('<em><i style="font-style:italic">a</i></em>', "<em><i>a</i></em>"),
        ('a<sup><span style="vertical-align:super">1</span></sup>', "a<sup>1</sup>"),
        ('<span style="font-weight:bold"></span>a', "a"),
    ],
)
def test_what_is_marked_already_is_not_marked_twice(html: str, expected: str) -> None:
    assert cleaned(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<b style="font-weight:normal"><p>a</p></b>', "<p>a</p>"),
        ('<i style="font-style:normal">a</i>', "a"),
        ('<strong style="font-weight: 400; font-style: italic">a</strong>', "<i>a</i>"),
        ('<u style="text-decoration:none">a</u>', "a"),
    ],
)
def test_a_style_takes_away_the_mark_of_its_element(html: str, expected: str) -> None:
    assert cleaned(html) == expected


def test_an_inline_element_that_is_shown_as_a_block_ends_the_line() -> None:
    assert cleaned('<span style="display:block">a</span><span style="display: block">b</span>') == "a<br>b"
    assert cleaned('<span style="display:inline-block">a</span><span style="display:table-cell">b</span>') == "ab"
