"""Collects the messages of code and templates, and updates the catalogues of other languages.

python -m support.catalogues             updates `src/tidings/web/locale`: new messages are added without a translation,
                                         and unused ones are removed; lists what has no translation
python -m support.catalogues --release   changes nothing; exits with 1 if a catalogue is not up to date or has a message
                                         without a translation

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
_METHODS = [("**.py", "python"), ("*/templates/**.html", "jinja2")]
# `msg` is of `tidings.base.messages`.
_KEYWORDS = {"_": None, "gettext": None, "N_": None, "ngettext": (1, 2), "msg": None}
_OPTIONS = {"*/templates/**.html": {"trim_blocks": "true", "lstrip_blocks": "true", "silent": "false"}}
_HEAD = "# The words of the pages. `make messages` collects them; the source is English.\n"


@cache
def used_messages() -> Catalog:
    """Return all messages in use, with the files that contain them."""
    catalog = Catalog(domain=DOMAIN)
    found = extract_from_dir(SOURCE, _METHODS, _OPTIONS, keywords=_KEYWORDS, strip_comment_tags=True)
    for file, _line, message, _comments, context in found:
        catalog.add(message, None, [(file, 1)], context=context)
    for file, text in _fields():
        catalog.add(text, None, [(file, 1)])
    return catalog


def _fields() -> Iterator[tuple[str, str]]:
    """Yield file and text of the labels of integrations: these are declared without a translation function."""
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
    """Yield the messages of a catalogue without its header."""
    return (message for message in catalog if message.id)


def strings(message: Message) -> tuple[str, ...]:
    """Return the translations of a message, one for each plural form."""
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


def up_to_date(catalog: Catalog) -> bytes:
    """Return the updated catalogue as the bytes of its file: sorted by file, without unused messages."""
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


def untranslated(catalog: Catalog) -> list[str]:
    """Return the English text of the messages in use that a catalogue shows in English: each of them, or some forms.

    Those that the catalogue does not have yet are among them.
    """
    stored = {(message.id, message.context): message for message in messages(catalog)}
    shown = []
    for used in messages(used_messages()):
        found = stored.get((used.id, used.context))
        expected = catalog.num_plurals if used.pluralizable else 1
        if found is None or found.fuzzy or sum(bool(form.strip()) for form in strings(found)) < expected:
            shown.append(used.id if isinstance(used.id, str) else used.id[0])
    return shown


def report(name: str, missing: list[str]) -> str:
    """Return the lines about one catalogue."""
    head = f"{name}: {len(used_messages())} messages, {len(missing)} without a translation\n"
    return head + "".join(f"    {text!r}\n" for text in missing)


def update() -> int:
    """Rewrite all catalogues and report what has no translation."""
    for name in CATALOGUES.values():
        text = up_to_date(read(name))
        (LOCALE / f"{name}.po").write_bytes(text)
        sys.stdout.write(report(name, untranslated(read(name))))
    return 0


def check_for_release() -> int:
    """Report what a release must not have: an English text on a page in another language, or a stale catalogue."""
    failures = 0
    for name in CATALOGUES.values():
        missing = untranslated(read(name))
        is_stale = (LOCALE / f"{name}.po").read_bytes() != up_to_date(read(name))
        sys.stdout.write(report(name, missing))
        if is_stale:
            sys.stdout.write("    not up to date: run `make messages`\n")
        failures += bool(missing or is_stale)
    return min(failures, 1)


def main(arguments: list[str]) -> int:
    return check_for_release() if "--release" in arguments else update()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
