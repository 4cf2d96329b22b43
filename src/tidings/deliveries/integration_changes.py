"""Validates the settings of an integration and merges them with the stored ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from tidings.base.errors import InvalidField, InvalidInput
from tidings.base.messages import Message, msg
from tidings.deliveries import placeholders
from tidings.deliveries.provider import FieldKind, Provider, SettingField
from tidings.deliveries.registry import REGISTRY
from tidings.domain.feeds.feed_changes import has_credentials

ENABLED = "enabled"
# Secrets are not shown; a member with this prefix says whether there is one. It is ignored when it is sent.
HAS_PREFIX = "has_"
# The last error of the service; it is shown, and ignored when it is sent.
LAST_ERROR = "last_error"
MAX_NUMBER = 2**53 - 1

_AFTER_HOST = re.compile(r"[/?#]")
_WRONG_TYPES: dict[type, Message] = {
    str: msg("send a text."),
    bool: msg("send true or false."),
    int: msg("send a whole number."),
}

# Returns why a URL cannot be used; None if it can.
UrlCheck = Callable[[str], Message | None]
# Returns whether what was given for the first URL may be sent to the second.
TrustCheck = Callable[[str, str], bool]


class IntegrationSettings(Struct, frozen=True):
    """A user's settings of one integration."""

    enabled: bool
    settings: Any
    """An instance of the provider's `Settings`."""


def find_provider(name: str) -> Provider:
    """Return the provider. Raises InvalidInput for an unknown name."""
    if name not in REGISTRY:
        raise InvalidInput(
            msg("{name} is not an integration. {hint}", name=repr(name[:40]), hint=_hint(name, REGISTRY)),
            field=name[:40],
        )
    return REGISTRY[name]


def merge(
    provider: Provider,
    before: IntegrationSettings,
    sent: Any,
    *,
    check_url: UrlCheck,
    may_share: TrustCheck,
    make_secret: Callable[[], str],
) -> IntegrationSettings:
    """Return the settings with changes. sent: members as in the API; absent or null members stay unchanged.

    A new address on another host needs the secrets again: the person who changes it may not be able to read them.
    make_secret: returns a value for a generated field. Raises InvalidInput, which names integration and field, as in
    `linkding.url`.
    """
    if not isinstance(sent, Mapping):
        raise InvalidField(provider.name, msg('send an object, such as {"enabled": true}.'))
    fields = {field.name: field for field in provider.fields}
    changes = {name: value for name, value in sent.items() if value is not None and not _is_read_only(name, fields)}
    enabled = before.enabled
    values = {}
    for name, value in changes.items():
        where = f"{provider.name}.{name[:40]}"
        if name == ENABLED:
            _check_type(value, bool, where)
            enabled = value
        elif name in fields:
            values[name] = _validated(value, fields[name], before, where, check_url)
        else:
            raise InvalidField(where, msg("there is no such setting. {hint}", hint=_hint(name, (ENABLED, *fields))))
    settings = msgspec.structs.replace(before.settings, **values)
    _check_secrets(provider, before.settings, settings, values, may_share)
    settings = _with_generated(provider, settings, make_secret)
    _check_settings(provider, settings, enabled=enabled)
    return IntegrationSettings(enabled, settings)


def visible_settings(provider: Provider, chosen: IntegrationSettings) -> dict[str, Any]:
    """Return the settings as their user may see them: a secret only as whether it is set."""
    members: dict[str, Any] = {ENABLED: chosen.enabled}
    for field in provider.fields:
        value = getattr(chosen.settings, field.name)
        members |= {HAS_PREFIX + field.name: bool(value)} if field.is_secret else {field.name: value}
    return members


def _is_read_only(name: str, fields: Mapping[str, SettingField]) -> bool:
    field = fields.get(name.removeprefix(HAS_PREFIX))
    return name == LAST_ERROR or (name.startswith(HAS_PREFIX) and field is not None and field.is_secret)


def _validated(value: Any, field: SettingField, before: IntegrationSettings, where: str, check_url: UrlCheck) -> Any:
    _check_type(value, field.type, where)
    if field.type is int and not 0 <= value <= MAX_NUMBER:
        raise InvalidField(where, msg("give a whole number from 0 on."))
    if not isinstance(value, str):
        return value
    if "\0" in value:
        raise InvalidInput(msg("{where} holds a NUL character: remove it.", where=where), field=where)
    if len(value) > field.max_length:
        raise InvalidField(where, msg("too long, {max:,} characters at most.", max=field.max_length))
    value = value.strip()
    if field.kind is not FieldKind.TEXT and any(ord(letter) < 32 for letter in value):
        raise InvalidInput(
            msg("{where} holds a line break or another invisible character: remove it.", where=where), field=where
        )
    if field.choices and value not in field.choices:
        raise InvalidField(
            where, msg("{value} is not one of {choices}.", value=repr(value[:40]), choices=", ".join(field.choices))
        )
    if field.is_template:
        placeholders.check_template(value, field=where)
    if field.kind is FieldKind.ADDRESS and value:
        _check_url(value, field, where, check_url)
    if field.is_generated and value not in ("", getattr(before.settings, field.name)):
        raise InvalidInput(
            msg('{where} is generated by Tidings: leave it out to keep it, or send "" for a new one.', where=where),
            field=where,
        )
    return value


def _check_type(value: Any, kind: type, where: str) -> None:
    if type(value) is not kind:
        raise InvalidField(where, _WRONG_TYPES[kind])


def _check_url(value: str, field: SettingField, where: str, check_url: UrlCheck) -> None:
    url = placeholders.sample_render(value) if field.is_template else value
    if reason := check_url(url):
        raise InvalidField(where, reason)
    if has_credentials(url) and not field.allows_credentials:
        raise InvalidField(where, msg("this address must not contain a username or a password; remove them."))


def _check_secrets(
    provider: Provider, before: Struct, after: Struct, values: Mapping[str, Any], may_share: TrustCheck
) -> None:
    """Raise InvalidInput for a stored secret that was not sent and would go to another host than it was given for.

    An empty address is not a host: otherwise a secret could be sent anywhere by removing the address first.
    """
    addresses = [field for field in provider.fields if field.kind is FieldKind.ADDRESS]
    if not any(
        _is_elsewhere(field, getattr(before, field.name), getattr(after, field.name), may_share) for field in addresses
    ):
        return
    for field in provider.fields:
        if field.is_secret and field not in addresses and field.name not in values and getattr(before, field.name):
            raise InvalidField(
                f"{provider.name}.{field.name}",
                msg("it was given for another host: give it again for the new address, or remove it."),
            )


def _is_elsewhere(field: SettingField, before: str, after: str, may_share: TrustCheck) -> bool:
    if after in ("", before):
        return False
    if not field.is_template:
        return not may_share(before, after)
    # A placeholder in the host can lead anywhere.
    hosts = (_AFTER_HOST.split(url.partition("://")[2])[0] for url in (before, after))
    return any("{{" in host for host in hosts) or not may_share(*map(placeholders.sample_render, (before, after)))


def _with_generated(provider: Provider, settings: Struct, make_secret: Callable[[], str]) -> Struct:
    missing = [field.name for field in provider.fields if field.is_generated and not getattr(settings, field.name)]
    return msgspec.structs.replace(settings, **{name: make_secret() for name in missing})


def _check_settings(provider: Provider, settings: Struct, *, enabled: bool) -> None:
    if enabled:
        for field in provider.fields:
            if field.is_required and not getattr(settings, field.name):
                where = f"{provider.name}.{field.name}"
                raise InvalidField(where, msg("{title} cannot be switched on without it.", title=provider.title))
    try:
        provider.check(settings)
    except InvalidInput as error:
        raise error.with_field(f"{provider.name}.{error.field}") from error


def _hint(name: str, known: Iterable[str]) -> Message:
    known = tuple(known)
    return placeholders.similar_names(name, known) or placeholders.known_names(known)
