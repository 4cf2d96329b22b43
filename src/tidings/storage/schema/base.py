"""What all tables share: names of constraints, and the few column types we use."""

from __future__ import annotations

import sys
import threading
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Text,
    false,
    text,
)
from sqlalchemy.types import TypeDecorator

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# Sorted and compared by code point on both engines, whatever the locale of the PostgreSQL database.
Words = Text().with_variant(Text(collation="C"), "postgresql")


class _Compressor(threading.local):
    """One for each thread that stores: making one takes longer than compressing a usual body."""

    def __init__(self) -> None:
        self._compressor = zstd.ZstdCompressor(3)

    def compress(self, plain: bytes) -> bytes:
        try:
            return self._compressor.compress(plain, zstd.ZstdCompressor.FLUSH_FRAME)
        except BaseException:
            # Half a body may be left in it, which would be the beginning of the next.
            self._compressor = zstd.ZstdCompressor(3)
            raise


_compressor = _Compressor()


class CompressedText(TypeDecorator[str]):
    """Text kept as bytes, compressed when that pays.

    The first byte tells how: 0 is UTF-8 as it is, 1 is zstd. Bodies below 1 kB, more than half of all, stay plain:
    compressing them gains little and would cost every reader.
    """

    impl = LargeBinary
    cache_ok = True
    worth_it = 1024

    def process_bind_param(self, value: str | None, dialect: Any) -> bytes | None:  # noqa: ARG002 - SQLAlchemy's signature
        if value is None:
            return None
        plain = value.encode("utf-8", "replace")
        if len(plain) < self.worth_it:
            return b"\0" + plain
        return b"\1" + _compressor.compress(plain)

    def process_result_value(self, value: bytes | None, dialect: Any) -> str | None:  # noqa: ARG002
        if value is None:
            return None
        kind, packed = value[0], memoryview(value)[1:]
        return (zstd.decompress(packed) if kind else bytes(packed)).decode("utf-8")


def key() -> Column[int]:
    """Ids never come back after a deletion, and stay below 2^31 because a client keeps them in a C int."""
    return Column("id", Integer, primary_key=True)


def number(name: str, default: int = 0, comment: str | None = None) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default=text(str(default)), comment=comment)


def words(name: str, default: str | None = "", comment: str | None = None) -> Column[str]:
    """default: None for a text that must always be given."""
    server_default = None if default is None else text(f"'{default}'")
    return Column(name, Words, nullable=False, server_default=server_default, comment=comment)


def flag(name: str, default: bool = False, comment: str | None = None) -> Column[bool]:
    return Column(name, Boolean, nullable=False, server_default=text("true") if default else false(), comment=comment)


def instant(name: str, nullable: bool = False, comment: str | None = None) -> Column[int]:
    """Microseconds since 1970, UTC."""
    return Column(name, BigInteger, nullable=nullable, comment=comment)


def big(name: str, comment: str | None = None) -> Column[int]:
    """Sizes and positions that the outside gives us: 64 bits."""
    return Column(name, BigInteger, nullable=False, server_default=text("0"), comment=comment)


def owner() -> Column[int]:
    """The user it belongs to: stands in the WHERE of every query."""
    return Column("user_id", Integer, ForeignKey("users.id", ondelete="CASCADE"), nullable=False)


def partial_index(name: str, *columns: Column[Any], where: str, unique: bool = False) -> Index:
    """where: SQL with literals, not parameters: only then may either engine use the index for a query."""
    return Index(name, *columns, unique=unique, sqlite_where=text(where), postgresql_where=text(where))
