"""Sends the requests that docs/api.md shows, and compares the responses."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from support.people import Person

HANDBOOK = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(
    r"^ {4}(?P<method>[A-Z]+) (?P<path>/\S+)(?: (?P<body>.+))?\n {4}(?P<status>\d+)(?P<answer>(?:.*\n)(?: {5,}.*\n)*)",
    re.MULTILINE,
)


def check_examples(section: str, person: Person, ids: Mapping[int, int] | None = None) -> int:
    """Send the examples of a section, in which the user has the id 5. Returns their number.

    Ids of what a POST creates stand for those in the example. ids: other real ids by the one in the examples.
    """
    text = HANDBOOK.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    numbers = {str(shown): str(real) for shown, real in {5: person.id, **(ids or {})}.items()}
    examples = list(EXAMPLE.finditer(text))
    for example in examples:

        def real(text: str) -> str:
            return re.sub(r"\b\d+\b", lambda number: numbers.get(number[0], number[0]), text)

        body = json.loads(real(example["body"])) if example["body"] else None
        answer = person.call(example["method"], real(example["path"]), body)
        assert answer.status == int(example["status"]), example[0]
        expected = example["answer"].strip()
        if expected and expected != "…":
            received = answer.json()
            if example["method"] == "POST" and answer.status == 201:
                numbers[str(json.loads(expected)["id"])] = str(received["id"])
            assert received == json.loads(real(expected)), example[0]
    return len(examples)
