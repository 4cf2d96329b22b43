"""Script modules are joined when the service starts."""

from __future__ import annotations

import pytest

from support.visitors import Visitor
from tidings.web.assets import join_modules

MODULES = {
    "page": '// A page.\nimport { add as sum } from "./sums.js";\nimport "./notes.js";\n  run(sum(1, 2));\n',
    "sums": "export const ONE = 1;\nexport function add(a, b) {\n  // Numbers.\n  return a + b;\n}\n",
    "notes": 'import { ONE } from "./sums.js";\nexport async function note() {}\nnote(ONE);\n',
}


def test_each_module_runs_once_after_those_it_needs_and_keeps_its_names() -> None:
    assert join_modules(MODULES, "page") == (
        "const $sums = (() => {\n"
        "const ONE = 1;\nfunction add(a, b) {\n  // Numbers.\n  return a + b;\n}\nreturn { ONE, add };\n})();\n"
        "const $notes = (() => {\n"
        "const { ONE } = $sums;\nasync function note() {}\nnote(ONE);\nreturn { note };\n})();\n"
        "const $page = (() => {\n"
        "// A page.\nconst { add: sum } = $sums;\n\n  run(sum(1, 2));\nreturn {  };\n})();\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        'import sums from "./sums.js";',
        "export default 1;",
        "export { add };",
        'const sums = await import("./sums.js");',
        'import "./page.js";',
    ],
)
def test_what_cannot_be_joined_is_an_error(source: str) -> None:
    with pytest.raises(ValueError, match=r"page\.js"):
        join_modules({**MODULES, "page": source}, "page")


@pytest.mark.parametrize("path", ["/unread", "/feeds", "/settings", "/about"])
def test_a_page_loads_one_script(reader: Visitor, path: str) -> None:
    assert reader.page(path).count("<script") == 1
