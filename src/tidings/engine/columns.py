"""Shared by all tables: naming of constraints, and column types."""

from __future__ import annotations

import threading
from typing import Any

import zstandard
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    false,
    text,
)
from sqlalchemy.types import TypeDecorator

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# Where rows are on a distributed PostgreSQL (`engine.distribution`), in `info` of a table: each user's on one node, or
# all of them on each node. Other tables are on the coordinator.
BY_USER = {"placement": "by user"}
COPIED = {"placement": "copied"}

# Sorted and compared by code point on both engines, whatever the locale of the PostgreSQL database.
Words = Text().with_variant(Text(collation="C"), "postgresql")
# Ids of entries, enclosures and deliveries: a large service may use up 32 bits. SQLite's numbers have 64;
# it numbers rows by itself only in a column declared as INTEGER.
LongId = BigInteger().with_variant(Integer(), "sqlite")


class _Zstd(threading.local):
    """A compressor and a decompressor per thread: making one takes longer than using it for a typical body."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=3)
        self.decompressor = zstandard.ZstdDecompressor()


_zstd = _Zstd()


class CompressedText(TypeDecorator[str]):
    """Text stored as bytes, compressed if it is long.

    The first byte is the format: 0 for plain UTF-8, 1 for zstd. Bodies below 1 kB, more than half of all, stay plain:
    compression would save little and slow down every read.
    """

    impl = LargeBinary
    cache_ok = True
    MIN_COMPRESSED_SIZE = 1024

    def process_bind_param(self, value: str | None, dialect: Any) -> bytes | None:  # noqa: ARG002 - SQLAlchemy's signature
        if value is None:
            return None
        plain = value.encode("utf-8", "replace")
        if len(plain) < self.MIN_COMPRESSED_SIZE:
            return b"\0" + plain
        return b"\1" + _zstd.compressor.compress(plain)

    def process_result_value(self, value: bytes | None, dialect: Any) -> str | None:  # noqa: ARG002
        if value is None:
            return None
        kind, packed = value[0], memoryview(value)[1:]
        plain = _zstd.decompressor.decompress(packed, allow_extra_data=False) if kind else bytes(packed)
        return plain.decode("utf-8")


def is_placed_by_user(table: Table) -> bool:
    """Return whether a table's rows are distributed by user: as the table says, or because it refers to such rows."""
    return BY_USER.items() <= table.info.items() or any(
        is_placed_by_user(key.referred_table)
        for key in table.foreign_key_constraints
        if key.referred_table is not table
    )


def key() -> Column[int]:
    """Return the id column, of 32 bits on PostgreSQL. Ids are never reused."""
    return Column("id", Integer, primary_key=True)


def long_key() -> Column[int]:
    """Return the id column of a table that grows all the time, of 64 bits. Ids are never reused."""
    return Column("id", LongId, primary_key=True)


def number(name: str, default: int = 0, comment: str | None = None) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default=text(str(default)), comment=comment)


def words(name: str, default: str | None = "", comment: str | None = None) -> Column[str]:
    """Return a text column. default: None if every insert must give a value."""
    server_default = None if default is None else text(f"'{default}'")
    return Column(name, Words, nullable=False, server_default=server_default, comment=comment)


def flag(name: str, default: bool = False, comment: str | None = None) -> Column[bool]:
    return Column(name, Boolean, nullable=False, server_default=text("true") if default else false(), comment=comment)


def instant(name: str, nullable: bool = False, comment: str | None = None) -> Column[int]:
    """Return a column for a time, in microseconds since 1970 UTC."""
    return Column(name, BigInteger, nullable=nullable, comment=comment)


def big(name: str, comment: str | None = None) -> Column[int]:
    """Return a 64-bit column, for sizes and positions that publishers and clients send."""
    return Column(name, BigInteger, nullable=False, server_default=text("0"), comment=comment)


def owner() -> Column[int]:
    """Return the column of the owning user, which belongs in the WHERE of every query."""
    return Column("user_id", Integer, ForeignKey("users.id", ondelete="CASCADE"), nullable=False)


def partial_index(name: str, *columns: Column[Any], where: str, unique: bool = False) -> Index:
    """Return a partial index. where: SQL with literals; with parameters neither engine would use the index."""
    return Index(name, *columns, unique=unique, sqlite_where=text(where), postgresql_where=text(where))
