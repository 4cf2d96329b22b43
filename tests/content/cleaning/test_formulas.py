"""Formulas that a script rendered: each once, as MathML or as the source that its author wrote."""

from __future__ import annotations

import pytest

from content.cleaning.trees import cleaned

MATH = "<math><mi>a</mi></math>"
CLEAN_MATH = '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>a</mi></math>'
ASSISTIVE_3 = f'<mjx-assistive-mml unselectable="on" display="inline">{MATH}</mjx-assistive-mml>'
ASSISTIVE_2 = f'<span class="MJX_Assistive_MathML" role="presentation">{MATH}</span>'
DRAWING = '<svg width="100" height="100"><path d="M0 0"/></svg>'


@pytest.mark.parametrize(
    "html",
    [
        f'<mjx-container jax="CHTML"><mjx-math aria-hidden="true">a</mjx-math>{ASSISTIVE_3}</mjx-container>',
        f'<mjx-container class="MathJax" jax="SVG">{DRAWING} {ASSISTIVE_3}</mjx-container>',
        f'<span class="MathJax"><nobr aria-hidden="true"><span>a</span></nobr>{ASSISTIVE_2}</span>',
        f'<span class="MathJax_SVG"><svg aria-hidden="true"><title>a</title></svg>{ASSISTIVE_2}</span>',
        f'<span class="katex-mathml">{MATH}</span><span class="katex-html" aria-hidden="true">a</span>',
    ],
)
def test_next_to_mathml_there_is_no_copy_for_the_eye(html: str) -> None:
    assert cleaned(f"<p>Before:{html}After.</p>").replace(" <math", "<math") == f"<p>Before:{CLEAN_MATH}After.</p>"


@pytest.mark.parametrize(
    "copies",
    [
        "",
        '<span class="MathJax_Preview">[preview]</span>',
        '<span class="MathJax_Preview"></span><span class="MathJax" id="M"><nobr><span>x2</span></nobr></span>',
        '<span class="MathJax_Preview">x2</span> <span class="mjx-chtml"><span class="mjx-math">x2</span></span>',
    ],
)
def test_the_source_in_a_script_of_mathjax_stays_as_text(copies: str) -> None:
    page = cleaned(f'<p>Before:{copies}<script type="math/tex" id="M">x^2 < y & z</script>. After.</p>')
    assert page.replace(" <code", "<code").replace("\n<code", "<code") == (
        "<p>Before:<code>x^2 &lt; y &amp; z</code>. After.</p>"
    )


def test_a_displayed_formula_has_a_line_of_its_own() -> None:
    html = 'a<div class="MathJax_Display">x2</div><script type="math/tex; mode=display">x^2</script>b'
    assert cleaned(html) == "a<br><code>x^2</code><br>b"


def test_the_marks_around_the_source_are_removed() -> None:
    assert cleaned('<script type="math/tex">% <![CDATA[\nx < y %]]></script>') == "<code>x &lt; y</code>"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<span class="MathJax_Preview">a</span>', "a"),
        ('<span class="katex"><span class="katex-html" aria-hidden="true">a</span></span>', "a"),
        ('<mjx-container class="MathJax"><mjx-math><mjx-c>a</mjx-c></mjx-math></mjx-container>', "a"),
    ],
)
def test_a_formula_that_is_there_once_stays(html: str, expected: str) -> None:
    assert cleaned(html) == expected


@pytest.mark.parametrize("kind", ["", "text/javascript", "module", "text/math", "application/json", "x-math/tex"])
def test_other_scripts_are_removed(kind: str) -> None:
    assert cleaned(f'a<script type="{kind}">math/tex</script>b') == "ab"


def test_a_source_without_text_or_between_rows_is_removed() -> None:
    assert cleaned('<script type="math/tex"> </script>') == ""
    page = cleaned('<table><script type="math/tex">x</script><tr><td>a</td></tr></table>')
    assert page == "<table><tbody><tr><td>a</td></tr></tbody></table>"
