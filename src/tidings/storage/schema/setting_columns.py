"""Columns of settings, derived from their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Column, Float, Integer, text

from tidings.domain.setting_declarations import Declared
from tidings.engine.columns import flag, number, words


def setting_columns(settings: Iterable[Declared[Any]]) -> list[Column[Any]]:
    """Return a column for each setting, with its default. A migration adds the same column to existing tables."""
    return [_column(one) for one in settings]


def _column(declared: Declared[Any]) -> Column[Any]:
    name, default, comment = declared.name, declared.default, declared.setting.comment
    if declared.type is bool:
        return flag(name, default, comment)
    if declared.type is str:
        return words(name, default, comment)
    if declared.type is int:
        return number(name, default, comment)
    if declared.type is float:
        return Column(name, Float(53), nullable=False, server_default=text(f"{default:g}"), comment=comment)
    if declared.type == int | None:
        return Column(name, Integer, comment=comment)
    raise TypeError(f"{name}: no column for {declared.type}")
