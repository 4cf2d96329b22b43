"""Collects the messages of code and templates, and updates the catalogues of other languages.

python -m support.catalogues      updates `src/tidings/web/locale`: new messages are added without a translation, and
                                  unused ones are removed

Babel finds messages of pages and those of the other rings (`tidings.base.messages`) by the name of the function that
they are passed to.

A catalogue names the files of a message without line numbers, so that it changes only when messages do.
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
from tidings.deliveries.registry import REGISTRY
from tidings.web.language import CATALOGUES, DOMAIN

SOURCE = Path(tidings.__file__).parent
LOCALE = SOURCE / "web" / "locale"
_METHODS = [("**.py", "python"), ("web/templates/**.html", "jinja2")]
# `msg` is of `tidings.base.messages`.
_KEYWORDS = {"_": None, "gettext": None, "N_": None, "ngettext": (1, 2), "msg": None}
_OPTIONS = {"web/templates/**.html": {"trim_blocks": "true", "lstrip_blocks": "true", "silent": "false"}}
_HEAD = "# The words of the pages. `make messages` collects them; the source is English.\n"


@cache
def used_messages() -> Catalog:
    """Returns all messages in use, with the files that contain them."""
    catalog = Catalog(domain=DOMAIN)
    found = extract_from_dir(SOURCE, _METHODS, _OPTIONS, keywords=_KEYWORDS, strip_comment_tags=True)
    for file, _line, message, _comments, context in found:
        catalog.add(message, None, [(file, 1)], context=context)
    for file, text in _fields():
        catalog.add(text, None, [(file, 1)])
    return catalog


def _fields() -> Iterator[tuple[str, str]]:
    """Yields file and text of the labels of integrations: these are declared without a translation function."""
    for provider in REGISTRY.values():
        for field in provider.fields:
            yield from (
                (f"domain/integrations/providers/{provider.name}.py", text)
                for text in (field.label, field.help)
                if text
            )


def read(name: str) -> Catalog:
    return read_po(io.BytesIO((LOCALE / f"{name}.po").read_bytes()), locale=name, domain=DOMAIN)


def messages(catalog: Catalog) -> Iterator[Message]:
    """Yields the messages of a catalogue without its header."""
    return (message for message in catalog if message.id)


def strings(message: Message) -> tuple[str, ...]:
    """Returns the translations of a message, one for each plural form."""
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


def up_to_date(catalog: Catalog) -> bytes:
    """Returns the updated catalogue as the bytes of its file: sorted by file, without unused messages."""
    catalog.update(used_messages(), no_fuzzy_matching=True)
    text = io.BytesIO()
    write_po(text, catalog, width=118, include_lineno=False, omit_header=True, sort_by_file=True, ignore_obsolete=True)
    # The header declares the number of plural forms.
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
        sys.stdout.write(f"{name}: {len(used_messages())} messages, {missing} without a translation\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
