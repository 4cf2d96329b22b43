"""Loads settings from the environment, a settings file, and files that hold one secret each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tidings.base.errors import StartError
from tidings.settings.newsletter_mailbox import check_newsletter_mailbox
from tidings.settings.option import PREFIX, Option
from tidings.settings.options import OPTIONS, Settings
from tidings.settings.values import InvalidValue, LogFormat
from tidings.settings.ways_to_sign_in import check_ways_to_sign_in

CONFIG = f"{PREFIX}CONFIG"
ENVIRONMENT = "the environment"
DEFAULT = "default"
# A value longer than this is cut when it is quoted in a message.
MAX_QUOTE_LENGTH = 80
# Settings of earlier versions, and what to do instead.
REMOVED = {
    f"{PREFIX}DATABASE_READ_URL": "remove it: pages and APIs read from the server that TIDINGS_DATABASE_URL names",
}


@dataclass(frozen=True, slots=True)
class RawValue:
    """The text of a setting."""

    text: str
    origin: str
    """The environment, or a file and line."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, and the origin and text of each, by field name."""

    settings: Settings
    origins: Mapping[str, str]
    shown: Mapping[str, str | None]
    """Text of the value, with secrets masked; None for a setting without a value."""

    def is_default(self, field: str) -> bool:
        """Return whether this setting was not set anywhere."""
        return self.origins[field] == DEFAULT


def load(environ: Mapping[str, str], config_path: Path | None = None) -> Settings:
    """Return the settings. Raises StartError if one cannot be used.

    config_path: a settings file; if it is None, TIDINGS_CONFIG may name one.
    """
    return load_with_origins(environ, config_path).settings


def load_process(config_path: Path | None = None) -> Loaded:
    """Load the settings of this process, and set TIDINGS_CONFIG so that child processes use the same file."""
    if config_path is not None:
        os.environ[CONFIG] = str(config_path.absolute())
    return load_with_origins(os.environ)


def load_with_origins(environ: Mapping[str, str], config_path: Path | None = None) -> Loaded:
    if config_path is None and environ.get(CONFIG):
        config_path = Path(environ[CONFIG])
    in_environment = _from_environment(environ)
    in_file = _from_file(config_path) if config_path else {}
    _refuse_unknown(in_environment)
    _refuse_unknown(in_file)

    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    shown: dict[str, str | None] = {}
    for option in OPTIONS:
        raw = _find(option, in_environment) or _find(option, in_file) or _default(option, values)
        values[option.field] = _value(option, raw)
        origins[option.field] = raw.origin if raw else DEFAULT
        shown[option.field] = _shown(option, raw) if raw else None
    loaded = Loaded(Settings(**values), origins, shown)
    for check in (check_ways_to_sign_in, check_newsletter_mailbox):
        check(loaded.settings, is_set=lambda field: not loaded.is_default(field))
    return loaded


def wanted_log_format() -> LogFormat:
    """Return the log format of this process, even if other settings cannot be used; text if none is set."""
    name = f"{PREFIX}LOG_FORMAT"
    try:
        in_file = _from_file(Path(os.environ[CONFIG])) if os.environ.get(CONFIG) else {}
        raw = _from_environment(os.environ).get(name) or in_file.get(name)
        return LogFormat(raw.text.lower()) if raw else LogFormat.TEXT
    except (StartError, ValueError):
        return LogFormat.TEXT


def _default(option: Option, values: Mapping[str, Any]) -> RawValue | None:
    text = option.derive(values) if option.derive else option.default
    return RawValue(text, DEFAULT) if text else None


def _shown(option: Option, raw: RawValue) -> str:
    return option.mask(raw.text) if option.mask else raw.text


def _value(option: Option, raw: RawValue | None) -> Any:
    if raw is None:
        return None
    try:
        return option.parse(raw.text)
    except InvalidValue as error:
        raise StartError(_error_message(option, raw, str(error))) from error


def _error_message(option: Option, raw: RawValue, reason: str) -> str:
    text = "" if option.is_secret else f" {_quoted(raw.text)}"
    details = f": {reason}" if reason else ""
    return f"{option.name}{text} (from {raw.origin}) cannot be used{details}; allowed: {option.allowed}"


def _quoted(text: str) -> str:
    return ascii(text if len(text) <= MAX_QUOTE_LENGTH else text[:MAX_QUOTE_LENGTH] + "...")


def _from_environment(environ: Mapping[str, str]) -> dict[str, RawValue]:
    return {
        name: RawValue(text, ENVIRONMENT)
        for name, text in environ.items()
        if name.startswith(PREFIX) and name != CONFIG
    }


def _from_file(path: Path) -> dict[str, RawValue]:
    values: dict[str, RawValue] = {}
    for number, raw in enumerate(_read(path, "the settings file").splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        name, equals, text = (part.strip() for part in line.partition("="))
        origin = f"{path}, line {number}"
        if not equals or not name:
            raise StartError(f"{origin}: not understood; a line is NAME=value, or starts with # to be skipped")
        name = name if name.startswith(PREFIX) else PREFIX + name
        if name in values:
            raise StartError(f"{origin}: {name} was set before ({values[name].origin}); keep one of the two")
        values[name] = RawValue(_unquoted(text), origin)
    return values


def _unquoted(text: str) -> str:
    is_quoted = len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text


def _refuse_unknown(raw: Mapping[str, RawValue]) -> None:
    known = [option.name for option in OPTIONS]
    known += [option.file_variant for option in OPTIONS if option.has_file_variant]
    for name in sorted(raw.keys() - set(known)):
        if advice := REMOVED.get(name.removesuffix("_FILE")):
            raise StartError(f"{name} (from {raw[name].origin}) is no longer a setting; {advice}")
        # Compared without the common prefix, which would make all names similar.
        similar = get_close_matches(name.removeprefix(PREFIX), [option.removeprefix(PREFIX) for option in known], n=1)
        hint = f"did you mean {PREFIX}{similar[0]}?" if similar else "docs/configuration.md lists all settings"
        raise StartError(f"{_quoted(name)[1:-1]} (from {raw[name].origin}) is not a setting; {hint}")


def _find(option: Option, raw: Mapping[str, RawValue]) -> RawValue | None:
    """Return the value of an option in one source. An empty value means not set: Compose files often contain such."""
    direct = raw.get(option.name)
    file = raw.get(option.file_variant) if option.has_file_variant else None
    direct = direct if direct and direct.text else None
    file = file if file and file.text else None
    if direct and file:
        raise StartError(f"{option.name} and {option.file_variant} are both set ({direct.origin}); keep one of the two")
    if file is None:
        return direct
    text = _read(Path(file.text), f"the file named by {option.file_variant}").rstrip("\r\n")
    if not text:
        raise StartError(f"{option.file_variant} names {_quoted(file.text)}, which is empty")
    return RawValue(text, f"file {file.text}, named by {option.file_variant}")


def _read(path: Path, what: str) -> str:
    try:
        return path.expanduser().read_text(encoding="utf-8-sig")
    except OSError as error:
        raise StartError(f"{what}, {str(path)!r}, cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, RuntimeError, ValueError) as error:
        raise StartError(f"{what}, {str(path)!r}, cannot be read as UTF-8 text") from error
