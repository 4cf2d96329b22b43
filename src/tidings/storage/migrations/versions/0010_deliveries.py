"""Deliveries: queues for each receiver, bodies apart, and what an integration last complained about."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    _bodies_apart()
    _queues()
    for index in ("ix_deliveries_due", "ix_deliveries_receiver"):
        op.drop_index(index, "deliveries")
    for column in ("body", "next_attempt_at", "claimed_until", "claimed_by"):
        op.drop_column("deliveries", column)
    op.add_column(
        "deliveries",
        sa.Column("receiver_id", sa.Integer(), comment="In whose queue it is; null until a worker has put it there."),
    )
    op.add_column(
        "deliveries",
        sa.Column("size", sa.Integer(), server_default=sa.text("0"), nullable=False, comment="Bytes of the body."),
    )
    op.add_column(
        "deliveries",
        sa.Column("redelivered_at", sa.BigInteger(), comment="When its owner last asked for it again."),
    )
    op.create_index("ix_deliveries_user_state", "deliveries", ["user_id", "state", "id"])
    _partial("ix_deliveries_arriving", "deliveries", "id", where="receiver_id IS NULL AND state = 'pending'")
    _partial("ix_deliveries_waiting", "deliveries", "receiver_id", "id", where="state = 'pending'")
    _partial("ix_deliveries_finished", "deliveries", "finished_at", where="finished_at IS NOT NULL")
    op.add_column(
        "integrations",
        sa.Column(
            "last_error",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="What went wrong at the last try, or why it was switched off; empty when all is well.",
        ),
    )


def _bodies_apart() -> None:
    op.create_table(
        "delivery_bodies",
        sa.Column("delivery_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column(
            "body", sa.LargeBinary(), nullable=False, comment="What is sent, byte for byte: the signature covers it."
        ),
        sa.ForeignKeyConstraint(
            ["delivery_id"],
            ["deliveries.id"],
            name="fk_delivery_bodies_delivery_id_deliveries",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("delivery_id", name="pk_delivery_bodies"),
        comment="Apart: queues and lists do not read them. Missing for what was given up because too much was waiting.",
    )
    connection = op.get_bind()
    add = sa.text("INSERT INTO delivery_bodies (delivery_id, body) VALUES (:id, :body)")
    # Before any worker delivered them they were few.
    for id_, body in connection.execute(sa.text("SELECT id, body FROM deliveries")).all():
        connection.execute(add, {"id": id_, "body": b"\0" + bytes(body)})


def _queues() -> None:
    op.create_table(
        "receivers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("integration", WORDS, nullable=False, comment="As in integrations.name."),
        sa.Column(
            "address_digest",
            sa.LargeBinary(),
            nullable=False,
            comment="BLAKE2b of deliveries.receiver, which may be long.",
        ),
        _number("pending", "How many deliveries wait in its queue."),
        sa.Column(
            "pending_bytes", sa.BigInteger(), server_default=sa.text("0"), nullable=False, comment="Of their bodies."
        ),
        sa.Column("next_attempt_at", sa.BigInteger(), comment="When the first of them is tried; null: none waits."),
        _number("failures", "Tries that failed in a row."),
        sa.Column("failing_since", sa.BigInteger()),
        _number("given_up", "Deliveries that were given up in a row."),
        sa.Column("claimed_until", sa.BigInteger(), comment="A worker holds it until then; who dies loses it."),
        sa.Column("claimed_by", WORDS, server_default=sa.text("''"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_receivers_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_receivers"),
        sa.UniqueConstraint(
            "user_id", "integration", "address_digest", name="uq_receivers_user_id_integration_address_digest"
        ),
        sqlite_autoincrement=True,
        comment="A queue for each user, integration and address: what is in it goes out one after another.",
    )
    due = "next_attempt_at IS NOT NULL AND failures"
    _partial("ix_receivers_due", "receivers", "next_attempt_at", "id", where=f"{due} = 0")
    _partial("ix_receivers_failing", "receivers", "next_attempt_at", "id", where=f"{due} > 0")
    _partial("ix_receivers_claimed", "receivers", "claimed_by", where="claimed_by <> ''")


def _number(name: str, comment: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), server_default=sa.text("0"), nullable=False, comment=comment)


def _partial(name: str, table: str, *columns: str, where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, list(columns), sqlite_where=condition, postgresql_where=condition)
