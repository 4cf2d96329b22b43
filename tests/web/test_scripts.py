"""Script modules are joined when the service starts, or loaded when a page needs them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tidings.web
from support.visitors import Visitor
from tidings.web.assets import ALONE, SCRIPT, Assets, join_modules, strip_script

MODULES = {
    "page": 'import { add as sum } from "./sums.js";\nimport "./notes.js";\nrun(sum(1, 2), import("./later.js"));\n',
    "sums": "export const ONE = 1;\nexport function add(a, b) {\nreturn a + b;\n}\n",
    "notes": 'import { ONE } from "./sums.js";\nexport async function note() {}\nnote(ONE);\n',
}
LATER = (
    'import { ONE } from "./sums.js";\nimport { two as second } from "./other.js";\nexport const three = second(ONE);\n'
)
SOURCES = {
    path.stem: path.read_text() for path in Path(tidings.web.__file__).with_name("static").joinpath("js").glob("*.js")
}
# A template or string that ends on its line, with nothing but such ones inside.
_WHOLE = re.compile(r"""`(?:[^`\\$]|\\.|\$(?!\{)|\$\{[^`{}]*\})*`|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")


def without_whole_strings(line: str) -> str:
    while (shorter := _WHOLE.sub("0", line)) != line:
        line = shorter
    return line


def test_each_module_runs_once_after_those_it_needs_and_keeps_its_names() -> None:
    assert join_modules(MODULES, "page") == {
        "page": "const $sums = (() => {\n"
        "const ONE = 1;\nfunction add(a, b) {\nreturn a + b;\n}\nreturn { ONE, add };\n})();\n"
        "const $notes = (() => {\n"
        "const { ONE } = $sums;\nasync function note() {}\nnote(ONE);\nreturn { note };\n})();\n"
        "(() => {\n"
        'const { add: sum } = $sums;\nrun(sum(1, 2), import("./later.js"));\n})();\n'
        "export { $sums, $notes };\n"
    }


def test_modules_wait_for_the_page_to_be_painted() -> None:
    first = "export const painted = frame();\n"
    scripts = join_modules({**MODULES, "start": first, "page": f'import "./start.js";\n{MODULES["page"]}'}, "page")

    assert scripts["page"].startswith(
        f"const $start = (() => {{\n{first[7:]}return {{ painted }};\n}})();\nawait $start.painted;\n"
    )


def test_a_part_uses_the_modules_of_the_joined_script() -> None:
    scripts = join_modules({**MODULES, "later": LATER, "other": "export const two = (one) => 2 * one;\n"}, "page")

    assert scripts["later"] == (
        'import { $sums } from "./page.js";\n'
        'const { ONE } = $sums;\nimport { two as second } from "./other.js";\nexport const three = second(ONE);\n'
    )
    assert scripts["other"] == "export const two = (one) => 2 * one;\n"


def test_scripts_lose_comments_indentation_and_blank_lines() -> None:
    source = "// A sum.\n\nconst sum = (a, b) =>\n  // Of numbers.\n  a + b; // Here.\n\n/* x */\n"

    assert strip_script(source) == "const sum = (a, b) =>\na + b; // Here.\n/* x */\n"


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_no_string_and_no_comment_spans_lines(name: str) -> None:
    """So that what strip_script removes is never within one."""
    code = [line.strip() for line in SOURCES[name].split("\n") if not line.strip().startswith("//")]

    for line in code:
        rest = without_whole_strings(line)
        assert not re.search(r"`|/\*|\\$", rest), line


@pytest.mark.parametrize("line", ["a = `x", "a = `${`", "/* x", "a = 'x\\", "a = `${b}`, `${`c`"])
def test_a_string_that_goes_on_is_found(line: str) -> None:
    assert re.search(r"`|/\*|\\$", without_whole_strings(line))


def test_every_part_that_is_asked_for_exists() -> None:
    asked = {name for source in SOURCES.values() for name in re.findall(r'\b(?:with|add)Part\("(\w+)"', source)}
    listed = re.search(r"const ELEMENTS = \{\n(.*?)\};", SOURCES["parts"], re.DOTALL)
    assert listed
    asked |= set(re.findall(r"^  (\w+):", listed[1], re.MULTILINE))
    # Pages that need a part whatever they show have a tag for it.
    templates = Path(tidings.web.__file__).parents[1].glob("**/templates/**/*.html")
    tags = {name for one in templates for name in re.findall(r"asset\('js/(\w+)\.js'\)", one.read_text("utf-8"))}
    asked |= tags - {SCRIPT, *ALONE}

    assert {f"js/{name}.js" for name in asked} == set(Assets().parts)


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        'import sums from "./sums.js";',
        "export default 1;",
        "export { add };",
        'import * as sums from "./sums.js";',
        'import "./page.js";',
    ],
)
def test_what_cannot_be_joined_is_an_error(source: str) -> None:
    with pytest.raises(ValueError, match=r"page\.js"):
        join_modules({**MODULES, "page": source}, "page")


@pytest.mark.parametrize("source", ['import sums from "./sums.js";', "export default 1;", "export { add };"])
def test_a_part_that_cannot_be_read_is_an_error(source: str) -> None:
    with pytest.raises(ValueError, match=r"later\.js"):
        join_modules({**MODULES, "later": source}, "page")


@pytest.mark.parametrize("path", ["/unread", "/feeds", "/settings", "/about"])
def test_a_page_loads_one_script(reader: Visitor, path: str) -> None:
    assert reader.page(path).count("<script") == 1
