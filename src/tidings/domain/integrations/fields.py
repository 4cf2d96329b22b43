"""What can be set for an integration, said once: enough to check it, to show it by API, and to make a form of it.

class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Of your Linkding, such as https://links.example.org.")] = ""
    token: Annotated[str, secret("API token", "In Linkding: Settings, Integrations.")] = ""
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, get_args, get_type_hints

import msgspec
from msgspec import Struct

MAX_LINE_LENGTH = 2_000
MAX_TEXT_LENGTH = 20_000


class FieldKind(StrEnum):
    """What a form makes of it."""

    ADDRESS = "url"
    LINE = "text"
    TEXT = "textarea"
    PASSWORD = "password"  # noqa: S105 - the name of a kind of field
    CHOICE = "choice"
    FLAG = "checkbox"
    NUMBER = "number"


class SettingField(Struct, frozen=True, kw_only=True):
    """name: as in the API. type: str, bool or int. default: what it is as long as nobody sets it.

    help: where its user finds it. is_needed: nothing can be sent without it. is_secret: never shown again.
    is_made: made by us, and shown; whoever wants another one sends "". is_template: may hold placeholders.
    takes_credentials: an address may carry a user name and a password.
    """

    kind: FieldKind
    label: str
    help: str = ""
    is_required: bool = False
    is_secret: bool = False
    is_generated: bool = False
    is_template: bool = False
    allows_credentials: bool = False
    choices: tuple[str, ...] = ()
    name: str = ""
    type: type = str
    default: Any = ""

    @property
    def max_length(self) -> int:
        """Characters."""
        return MAX_TEXT_LENGTH if self.kind is FieldKind.TEXT else MAX_LINE_LENGTH


class ServiceSettings(Struct, frozen=True, kw_only=True):
    """What the settings of every leaf are made from."""

    def __repr__(self) -> str:
        """Without what may be secret: settings end up in traces."""
        return f"Settings of {type(self).__module__.rpartition('.')[2]}"


def address(label: str, help: str = "", *, required: bool = True, is_secret: bool = False) -> SettingField:  # noqa: A002
    """is_secret: the address alone lets one in."""
    return SettingField(kind=FieldKind.ADDRESS, label=label, help=help, is_required=required, is_secret=is_secret)


def with_credentials(field: SettingField) -> SettingField:
    """The same, of an address that may carry a user name and a password."""
    return msgspec.structs.replace(field, allows_credentials=True)


def secret(label: str, help: str = "", *, required: bool = True) -> SettingField:  # noqa: A002
    return SettingField(kind=FieldKind.PASSWORD, label=label, help=help, is_required=required, is_secret=True)


def line(label: str, help: str = "", *, required: bool = False) -> SettingField:  # noqa: A002
    return SettingField(kind=FieldKind.LINE, label=label, help=help, is_required=required)


def text(label: str, help: str = "", *, is_secret: bool = False) -> SettingField:  # noqa: A002
    return SettingField(kind=FieldKind.TEXT, label=label, help=help, is_secret=is_secret)


def template(field: SettingField) -> SettingField:
    """The same, with placeholders in it: `domain.integrations.templates`."""
    return msgspec.structs.replace(field, is_template=True)


def choice(label: str, *choices: str, help: str = "") -> SettingField:  # noqa: A002
    return SettingField(kind=FieldKind.CHOICE, label=label, help=help, choices=choices)


def flag(label: str, help: str = "") -> SettingField:  # noqa: A002
    return SettingField(kind=FieldKind.FLAG, label=label, help=help)


def number(label: str, help: str = "") -> SettingField:  # noqa: A002
    """A whole number, not below zero."""
    return SettingField(kind=FieldKind.NUMBER, label=label, help=help)


def generated(label: str, help: str = "") -> SettingField:  # noqa: A002
    return SettingField(kind=FieldKind.LINE, label=label, help=help, is_generated=True)


def tags() -> SettingField:
    """What half of the services have."""
    return line("Tags", "Given to everything that is saved; with commas between them.")


def fields_of(settings: type[Struct]) -> tuple[SettingField, ...]:
    """In the order in which they are declared. TypeError for a member that does not say what it is."""
    hints = get_type_hints(settings, include_extras=True)
    defaults = settings()
    found = []
    for name in settings.__struct_fields__:
        kind, *more = get_args(hints[name]) or (hints[name],)
        about = next((one for one in more if isinstance(one, SettingField)), None)
        if about is None or kind not in (str, bool, int):
            raise TypeError(f"{settings.__module__}: {name} needs a type and a field, such as Annotated[str, line(…)]")
        found.append(msgspec.structs.replace(about, name=name, type=kind, default=getattr(defaults, name)))
    return tuple(found)
