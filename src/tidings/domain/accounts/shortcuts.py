"""Which keys do what on pages: the defaults, and those that a user has chosen.

A setting of the user keeps the choice as text, a line for each command whose keys are not the defaults:

    next j n
    star *
    mark_all

A line has the command and its keys, none if the command has no key. A key is a character, two characters that are
pressed one after the other (`gu`), or an arrow (`ArrowLeft`). Arrows change sides where pages run from right to left.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct

from tidings.base.errors import InvalidField
from tidings.base.messages import Message, msg

Shortcuts = Mapping[str, tuple[str, ...]]
"""The keys of each command."""

DEFAULT_SHORTCUTS: Final[Shortcuts] = {
    "unread": ("gu",),
    "starred": ("gb",),
    "history": ("gh",),
    "feeds": ("gf",),
    "categories": ("gc",),
    "settings": ("gs",),
    "search": ("/",),
    "add_feed": ("+",),
    "next": ("j", "n", "ArrowRight"),
    "previous": ("k", "p", "ArrowLeft"),
    "open": ("o",),
    "original": ("v",),
    "original_here": ("V",),
    "comments": ("c",),
    "comments_here": ("C",),
    "toggle_read": ("m",),
    "toggle_read_and_go_back": ("M",),
    "star": ("f",),
    "save": ("s",),
    "labels": ("l",),
    "share": ("S",),
    "full_article": ("d",),
    "attachments": ("a",),
    "player": ("P",),
    "feed": ("F",),
    "line_length": ("w",),
    "first": ("gg",),
    "last": ("G",),
    "next_feed": ("J",),
    "previous_feed": ("K",),
    "unsubscribe": ("#",),
    "mark_all": ("A",),
    "undo": ("z",),
    "refresh": ("r",),
    "refresh_all": ("R",),
    "help": ("?",),
}
ARROWS: Final = {"ArrowLeft": "ArrowRight", "ArrowRight": "ArrowLeft"}
"""Each arrow that may be a key, with the other one."""
MAX_KEYS: Final = 5
"""Of one command. The table of keys is part of each page."""


class KeyProblem(Struct, frozen=True):
    """Why a command cannot have a key."""

    command: str
    key: str
    text: Message
    other: str = ""
    """The command that has the key, or one that begins with it."""


def parse_shortcuts(text: str) -> dict[str, tuple[str, ...]]:
    """Return the keys of the commands in a text. Lines of unknown commands are left out."""
    lines = [line.split() for line in text.splitlines()]
    return {words[0]: tuple(words[1:]) for words in lines if words and words[0] in DEFAULT_SHORTCUTS}


@lru_cache(maxsize=256)
def user_shortcuts(text: str) -> Shortcuts:
    """Return the keys of all commands. What the user has chosen wins over default keys, of new commands for example."""
    chosen = parse_shortcuts(text)
    taken = [key for keys in chosen.values() for key in keys]
    return {
        command: chosen.get(command, tuple(key for key in keys if not any(_collide(key, one) for one in taken)))
        for command, keys in DEFAULT_SHORTCUTS.items()
    }


def shortcuts_text(shortcuts: Shortcuts) -> str:
    """Return the text of the commands whose keys are not the defaults."""
    lines = [
        " ".join((command, *shortcuts[command]))
        for command, keys in DEFAULT_SHORTCUTS.items()
        if shortcuts[command] != keys
    ]
    return "\n".join(lines)


def validate_shortcuts(text: str) -> str:
    """Return the text in its shortest form. Raises InvalidInput for unknown commands, and keys that cannot be used."""
    known = parse_shortcuts(text)
    for line in text.splitlines():
        if line.strip() and line.split()[0] not in DEFAULT_SHORTCUTS:
            raise InvalidField("shortcuts", msg("there is no command {name}.", name=repr(line.split()[0][:40])))
    shortcuts = {command: tuple(dict.fromkeys(known.get(command, keys))) for command, keys in DEFAULT_SHORTCUTS.items()}
    for problem in key_problems(shortcuts):
        raise InvalidField("shortcuts", problem.text)
    return shortcuts_text(shortcuts)


def key_problems(shortcuts: Shortcuts) -> list[KeyProblem]:
    """Return a problem for each key that cannot be used, or that two commands have, in the order of the commands."""
    found = [
        KeyProblem(command, keys[MAX_KEYS], msg("At most {max} keys.", max=MAX_KEYS))
        for command, keys in shortcuts.items()
        if len(keys) > MAX_KEYS
    ]
    # Without it, nobody would find the keys again.
    if not shortcuts["help"]:
        found.append(KeyProblem("help", "", msg("The help needs a key.")))
    owners = [(key, command) for command, keys in shortcuts.items() for key in keys]
    for key, command in owners:
        if not is_possible(key):
            found.append(KeyProblem(command, key, msg("{key} cannot be chosen as a key.", key=key[:20])))
            continue
        others = [name for other, name in owners if name != command and _collide(key, other)]
        if others:
            text = msg("{key} is already used for {command}.", key=key, command=others[0])
            found.append(KeyProblem(command, key, text, others[0]))
    return found


def is_possible(key: str) -> bool:
    """Return whether a key may be chosen. Browsers need the others (Enter, Tab), or pages do (Esc, the space bar)."""
    return key in ARROWS or (1 <= len(key) <= 2 and all(_is_typed(character) for character in key))


def _is_typed(character: str) -> bool:
    # One unit of UTF-16, as browsers name it; no blank, control character or mark of another letter.
    return ord(character) < 0x10000 and unicodedata.category(character)[0] in "LNPS"


def _collide(one: str, other: str) -> bool:
    """Return whether pressing one would also press the other, or its beginning."""
    if one in ARROWS or other in ARROWS:
        return one == other
    return one.startswith(other) or other.startswith(one)
