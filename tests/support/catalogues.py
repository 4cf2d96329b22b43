"""What the pages say, collected from code and templates, and the catalogues of other languages.

python -m support.catalogues      brings `src/tidings/web/locale` up to date: new messages come without a translation,
                                  those that nobody says any more go

Beside what pages say themselves there are the messages of the other rings (`tidings.domain.messages`): Babel finds both
by the name of the function that they are handed to.

A catalogue names the files that a message is in, and no lines: it changes when the words do, and at no other time.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

import tidings
from tidings.domain.integrations.registry import REGISTRY
from tidings.web.language import CATALOGUES, DOMAIN

SOURCE = Path(tidings.__file__).parent
LOCALE = SOURCE / "web" / "locale"
_METHODS = [("**.py", "python"), ("web/templates/**.html", "jinja2")]
# `msg` is of `tidings.domain.messages`.
_KEYWORDS = {"_": None, "gettext": None, "N_": None, "ngettext": (1, 2), "msg": None}
_OPTIONS = {"web/templates/**.html": {"trim_blocks": "true", "lstrip_blocks": "true", "silent": "false"}}
_HEAD = "# The words of the pages. `make messages` collects them; the source is English.\n"


@cache
def said() -> Catalog:
    """All messages of the pages, by the files that they are in."""
    catalog = Catalog(domain=DOMAIN)
    found = extract_from_dir(SOURCE, _METHODS, _OPTIONS, keywords=_KEYWORDS, strip_comment_tags=True)
    for file, _line, message, _comments, context in found:
        catalog.add(message, None, [(file, 1)], context=context)
    for file, text in _fields():
        catalog.add(text, None, [(file, 1)])
    return catalog


def _fields() -> Iterator[tuple[str, str]]:
    """What forms call the settings of integrations, who declare them without knowing of languages."""
    for leaf in REGISTRY.values():
        for field in leaf.fields:
            yield from (
                (f"domain/integrations/providers/{leaf.name}.py", one) for one in (field.label, field.help) if one
            )


def read(name: str) -> Catalog:
    return read_po(io.BytesIO((LOCALE / f"{name}.po").read_bytes()), locale=name, domain=DOMAIN)


def messages(catalog: Catalog) -> Iterator[Message]:
    """Without the head."""
    return (message for message in catalog if message.id)


def strings(message: Message) -> tuple[str, ...]:
    """One for each plural form."""
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


def up_to_date(catalog: Catalog) -> bytes:
    """As it is written: in the order of the files, without what is not said any more."""
    catalog.update(said(), no_fuzzy_matching=True)
    text = io.BytesIO()
    write_po(text, catalog, width=118, include_lineno=False, omit_header=True, sort_by_file=True, ignore_obsolete=True)
    # Without a head a catalogue would not know how many plural forms there are.
    head = (
        f'{_HEAD}msgid ""\nmsgstr ""\n"Language: {catalog.locale_identifier}\\n"\n'
        '"Content-Type: text/plain; charset=utf-8\\n"\n'
        f'"Plural-Forms: {catalog.plural_forms}\\n"\n\n'
    )
    return head.encode() + text.getvalue().rstrip(b"\n") + b"\n"


def main() -> int:
    for name in CATALOGUES.values():
        text = up_to_date(read(name))
        (LOCALE / f"{name}.po").write_bytes(text)
        missing = sum(not all(strings(message)) for message in messages(read(name)))
        sys.stdout.write(f"{name}: {len(said())} messages, {missing} without a translation\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
