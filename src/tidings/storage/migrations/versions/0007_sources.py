"""Sources: one row for each document that is fetched, however many feeds show it; and hosts to be left alone."""

from __future__ import annotations

import hashlib
import json
from urllib.parse import urlsplit

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
OPTIONS = (
    "feed_url, user_agent, cookie, username, password, proxy_url, fetch_via_proxy, ignore_http_cache,"
    " allow_self_signed_certificates"
)


def upgrade() -> None:
    op.create_table(
        "sources",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column(
            "fetch_key",
            sa.LargeBinary(),
            nullable=False,
            comment="Of address and fetch options: the same for all that share.",
        ),
        sa.Column("host", WORDS, nullable=False, comment="Which host a fetch is counted for."),
        sa.Column("next_check_at", sa.BigInteger(), comment="The earliest of its enabled feeds; null: it has none."),
        sa.Column("claimed_until", sa.BigInteger(), comment="A worker holds it until then; who dies loses it."),
        sa.Column("claimed_by", WORDS, server_default=sa.text("''"), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sources"),
        sa.UniqueConstraint("fetch_key", name="uq_sources_fetch_key"),
        comment="One row for each document that is fetched, however many feeds show it.",
        sqlite_autoincrement=True,
    )
    for name, columns, where in (
        ("ix_sources_due", ["next_check_at", "id"], "next_check_at IS NOT NULL"),
        ("ix_sources_claimed", ["host", "claimed_until"], "claimed_by <> ''"),
        ("ix_sources_claimed_by", ["claimed_by"], "claimed_by <> ''"),
    ):
        op.create_index(name, "sources", columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
    op.create_index("ix_sources_host", "sources", ["host", "next_check_at"])
    op.create_table(
        "hosts",
        sa.Column("host", WORDS, nullable=False),
        sa.Column("closed_until", sa.BigInteger(), nullable=False, comment="No feed of it is fetched before."),
        sa.Column(
            "is_asked",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="By the host itself, with a 429: then nothing else is fetched either.",
        ),
        sa.PrimaryKeyConstraint("host", name="pk_hosts"),
        comment="Only hosts that are to be left alone for a while.",
        sqlite_with_rowid=False,
    )
    # SQLite takes a foreign key only together with its column, and Alembic would say it in two statements.
    op.execute(
        "ALTER TABLE feeds ADD COLUMN source_id INTEGER CONSTRAINT fk_feeds_source_id_sources REFERENCES sources (id)"
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("COMMENT ON COLUMN feeds.source_id IS 'What is fetched for it; never null.'")
    _give_sources()
    op.drop_index("ix_feeds_due", "feeds")
    op.create_index("ix_feeds_source", "feeds", ["source_id", "disabled", "next_check_at"])
    op.drop_column("feeds", "claimed_until")
    op.drop_column("feeds", "claimed_by")


def _give_sources() -> None:
    connection = op.get_bind()
    given: dict[bytes, int] = {}
    for id_, *options in connection.execute(sa.text(f"SELECT id, {OPTIONS} FROM feeds ORDER BY id")).all():  # noqa: S608
        # As stored, flags are numbers on SQLite.
        parts = [*options[:6], *(bool(flag) for flag in options[6:])]
        text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
        key = hashlib.sha256(text.encode()).digest()
        if key not in given:
            add = sa.text("INSERT INTO sources (fetch_key, host) VALUES (:key, :host) RETURNING id")
            given[key] = connection.execute(add, {"key": key, "host": _host(options[0])}).scalar_one()
        connection.execute(
            sa.text("UPDATE feeds SET source_id = :source WHERE id = :id"), {"source": given[key], "id": id_}
        )
    connection.execute(
        sa.text(
            "UPDATE sources SET next_check_at ="
            " (SELECT min(next_check_at) FROM feeds WHERE source_id = sources.id AND NOT disabled)"
        )
    )


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    name = (parts.hostname or "").rstrip(".")
    return name if port in (None, {"http": 80, "https": 443}.get(parts.scheme)) else f"{name}:{port}"
