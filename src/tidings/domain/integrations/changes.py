"""What somebody sets for an integration, checked and merged with what was set before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from tidings.domain.errors import InvalidInput
from tidings.domain.integrations import templates
from tidings.domain.integrations.fields import Field, Kind
from tidings.domain.integrations.leaf import Leaf
from tidings.domain.integrations.registry import REGISTRY
from tidings.domain.wording import Words

ENABLED = "enabled"
# Beside a secret that is not shown: whether there is one. Who sends it back means nothing by it.
HAS = "has_"
# What the service last complained about: shown, and not to be set.
LAST_ERROR = "last_error"
LARGEST_NUMBER = 2**53 - 1

_WRONG_TYPES: dict[type, Words] = {
    str: "{field}: send a text.",
    bool: "{field}: send true or false.",
    int: "{field}: send a whole number.",
}

# Why an address cannot be used; "" when it can.
Refusal = Callable[[str], Words]


class Chosen(Struct, frozen=True):
    """What a user has chosen for one integration. settings: of the leaf's own type."""

    enabled: bool
    settings: Any


def leaf_named(name: str) -> Leaf:
    """InvalidInput for a name that no integration has."""
    if name not in REGISTRY:
        raise InvalidInput(f"{name[:40]!r} is no integration. {_hint(name, REGISTRY)}", field=name[:40])
    return REGISTRY[name]


def merged(leaf: Leaf, before: Chosen, given: Any, *, refusal: Refusal, make_secret: Callable[[], str]) -> Chosen:
    """given: some of the members that the API shows; what is not sent, or null, stays as it is.

    make_secret: for what is made by us. InvalidInput names integration and field, as in linkding.url.
    """
    if not isinstance(given, Mapping):
        raise InvalidInput(f'{leaf.name}: send an object, such as {{"enabled": true}}.', field=leaf.name)
    fields = {field.name: field for field in leaf.fields}
    sent = {name: value for name, value in given.items() if value is not None and not _only_shown(name, fields)}
    enabled = before.enabled
    values = {}
    for name, value in sent.items():
        where = f"{leaf.name}.{name[:40]}"
        if name == ENABLED:
            _check_type(value, bool, where)
            enabled = value
        elif name in fields:
            values[name] = _checked(value, fields[name], before, where, refusal)
        else:
            raise InvalidInput(f"{where}: there is no such setting. {_hint(name, (ENABLED, *fields))}", field=where)
    settings = msgspec.structs.replace(before.settings, **values)
    settings = _with_made(leaf, settings, make_secret)
    _check_whole(leaf, settings, enabled=enabled)
    return Chosen(enabled, settings)


def shown(leaf: Leaf, chosen: Chosen) -> dict[str, Any]:
    """As its user may see it: of a secret only whether there is one."""
    members: dict[str, Any] = {ENABLED: chosen.enabled}
    for field in leaf.fields:
        value = getattr(chosen.settings, field.name)
        members |= {HAS + field.name: bool(value)} if field.is_secret else {field.name: value}
    return members


def _only_shown(name: str, fields: Mapping[str, Field]) -> bool:
    field = fields.get(name.removeprefix(HAS))
    return name == LAST_ERROR or (name.startswith(HAS) and field is not None and field.is_secret)


def _checked(value: Any, field: Field, before: Chosen, where: str, refusal: Refusal) -> Any:
    _check_type(value, field.type, where)
    if field.type is int and not 0 <= value <= LARGEST_NUMBER:
        raise InvalidInput(f"{where}: send a whole number from 0 on.", field=where)
    if not isinstance(value, str):
        return value
    if "\0" in value:
        raise InvalidInput(f"{where} holds a NUL character: remove it.", field=where)
    if len(value) > field.longest:
        raise InvalidInput(f"{where}: too long, {field.longest:,} characters at most.", field=where)
    value = value.strip()
    if field.kind is not Kind.TEXT and any(ord(letter) < 32 for letter in value):
        raise InvalidInput(f"{where} holds a line break or another invisible character: remove it.", field=where)
    if field.choices and value not in field.choices:
        raise InvalidInput(f"{where}: {value[:40]!r} is not one of {', '.join(field.choices)}.", field=where)
    if field.is_template:
        templates.check(value, field=where)
    if field.kind is Kind.ADDRESS and value:
        _check_address(value, field, where, refusal)
    if field.is_made and value not in ("", getattr(before.settings, field.name)):
        raise InvalidInput(
            f'{where} is made by Tidings: leave it out to keep it, or send "" for a new one.', field=where
        )
    return value


def _check_type(value: Any, kind: type, where: str) -> None:
    if type(value) is not kind:
        raise InvalidInput(_WRONG_TYPES[kind].format(field=where), field=where)


def _check_address(value: str, field: Field, where: str, refusal: Refusal) -> None:
    address = templates.with_samples(value) if field.is_template else value
    if reason := refusal(address):
        raise InvalidInput(f"{where}: {reason}", field=where)
    if "@" in address.partition("://")[2].partition("/")[0] and not field.takes_credentials:
        raise InvalidInput(
            f"{where}: a user name and a password do not belong into this address; take them out.", field=where
        )


def _with_made(leaf: Leaf, settings: Struct, make_secret: Callable[[], str]) -> Struct:
    missing = [field.name for field in leaf.fields if field.is_made and not getattr(settings, field.name)]
    return msgspec.structs.replace(settings, **{name: make_secret() for name in missing})


def _check_whole(leaf: Leaf, settings: Struct, *, enabled: bool) -> None:
    if enabled:
        for field in leaf.fields:
            if field.is_needed and not getattr(settings, field.name):
                where = f"{leaf.name}.{field.name}"
                raise InvalidInput(f"{where}: {leaf.title} cannot be switched on without it.", field=where)
    try:
        leaf.check(settings)
    except InvalidInput as error:
        raise InvalidInput(f"{leaf.name}.{error.message}", field=f"{leaf.name}.{error.field}") from error


def _hint(name: str, known: Iterable[str]) -> Words:
    known = tuple(known)
    return templates.did_you_mean(name, known) or templates.there_are(known)
