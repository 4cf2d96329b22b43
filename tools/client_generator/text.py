"""Text of generated code."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

WIDTH = 116
GENERATED = "Written by `make client` from contracts/openapi.json: change the generator, or what the service declares."


def docstring(first: str, rest: Sequence[str] = (), *, indent: str) -> str:
    """Return a docstring: a sentence, then paragraphs."""
    first = sentence(first)
    lines = textwrap.wrap(first, WIDTH - len(indent) - 6)
    for paragraph in filter(None, rest):
        lines += ["", *textwrap.wrap(paragraph, WIDTH - len(indent))]
    raw = "r" if any("\\" in line for line in lines) else ""
    if len(lines) == 1:
        space = " " if lines[0].endswith('"') else ""
        return f'{indent}{raw}"""{lines[0]}{space}"""\n'
    body = "\n".join(f"{indent}{line}" if line else "" for line in lines)
    return f'{indent}{raw}"""{body.lstrip()}\n{indent}"""\n'


def sentence(text: str) -> str:
    """Return a text with a capital and a full stop."""
    text = text.strip()
    # A name in code keeps its small letter.
    text = text if text.startswith("`") else text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!", ":")) else f"{text}."
