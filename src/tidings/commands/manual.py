"""`tidings manual` and `tidings completion`: a man page, and completions for shells, from the declared commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from tidings import __version__
from tidings.commands.terminal import say
from tidings.settings import OPTIONS, Option

_EXIT_CODES = (
    ("0", "Success."),
    ("1", "The command failed; one line on stderr says why."),
    ("2", "Unknown arguments, or a setting that cannot be used."),
    ("3", "status: feeds are overdue."),
    ("4", "check: problems are left."),
    ("130", "Interrupted."),
)


def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print the completions of a shell, to be saved where that shell looks for them.

    bash: ~/.local/share/bash-completion/completions/tidings; zsh: _tidings in a folder of $fpath;
    fish: ~/.config/fish/completions/tidings.fish.

    Parameters
    ----------
    shell
        bash, zsh or fish.
    """
    from tidings.cli import app

    say(app.generate_completion(shell=shell))
    return 0


def manual() -> int:
    """Print the manual page: `tidings manual | man -l -` shows it, and packages install it as tidings(1)."""
    from tidings.cli import app

    say("\n".join(_page(app.generate_docs())))
    return 0


def _page(markdown: str) -> Iterator[str]:
    """Yield the lines of a page in the macros of man(7). markdown: of all commands, as cyclopts writes it."""
    yield f'.TH TIDINGS 1 "" "tidings {__version__}" "User Commands"'
    yield ".SH NAME"
    yield r"tidings \- a self-hosted feed reader service"
    yield ".SH SYNOPSIS"
    yield r".B tidings [\-\-config FILE] COMMAND [OPTIONS]"
    yield ".SH OPTIONS OF EVERY COMMAND"
    yield from _item(
        "--config FILE", "A file of settings, one NAME=value per line. TIDINGS_CONFIG can name it instead."
    )
    yield ".SH COMMANDS"
    yield from _commands(markdown)
    yield ".SH ENVIRONMENT"
    yield "Settings are read from the environment and from the file of --config."
    for option in OPTIONS:
        yield from _setting(option)
    yield ".SH EXIT STATUS"
    for code, meaning in _EXIT_CODES:
        yield from _item(code, meaning)


def _commands(markdown: str) -> Iterator[str]:
    """Yield the section of each command, without the list of all commands at the beginning."""
    _, *sections = re.split(r"^#{2,} (tidings .+)\n", markdown, flags=re.MULTILINE)
    for title, text in zip(sections[::2], sections[1::2], strict=True):
        yield f".SS {_plain(title)}"
        own = text.partition("**Options of every command**")[0]
        for line in re.sub(r"```console\n.*?```\n", "", own, flags=re.DOTALL).splitlines():
            yield from _line(line)


def _line(line: str) -> Iterator[str]:
    if item := re.fullmatch(r"\* (.+?): (.*)", line):
        yield from _item(item[1], item[2])
    elif not line.strip():
        yield ".PP"
    else:
        yield _plain(line.strip())


def _setting(option: Option) -> Iterator[str]:
    yield from _item(option.name, f"{option.help} Allowed: {option.allowed}. Default: {option.default or 'none'}.")


def _item(term: str, text: str) -> Iterator[str]:
    yield ".TP"
    yield f".B {_plain(term)}"
    yield _plain(text)


def _plain(markdown: str) -> str:
    """Return the text without marks of Markdown, escaped for roff."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown).replace("**", "").replace("`", "")
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text.startswith((".", "'")) else text
