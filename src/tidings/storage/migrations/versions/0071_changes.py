"""The log of what changed for each user."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    bindparam,
    text,
)

revision = "0071"
down_revision = "0070"
branch_labels = None
depends_on = None

_RANDOM = {"sqlite": "random() & 9007199254740991", "postgresql": "floor(random() * 9007199254740991)"}


def upgrade() -> None:
    op.add_column(
        "list_versions",
        Column("number", BigInteger(), server_default=text("0"), nullable=False, comment="Of the last row in changes."),
    )
    op.create_table(
        "changes",
        Column("user_id", Integer(), autoincrement=False, nullable=False),
        Column(
            "number",
            BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="In the order of commits, from 0 on.",
        ),
        Column(
            "version",
            BigInteger(),
            server_default=text("0"),
            nullable=False,
            comment="Random: after a restored backup the same number has another one.",
        ),
        Column("made_at", BigInteger(), nullable=False),
        Column("objects", LargeBinary(), nullable=False, comment="JSON: ids of what was changed or deleted, by kind."),
        ForeignKeyConstraint(
            ["user_id"],
            ["list_versions.user_id"],
            name=op.f("fk_changes_user_id_list_versions"),
            ondelete="CASCADE",
        ),
        PrimaryKeyConstraint("user_id", "number", name=op.f("pk_changes")),
        sqlite_with_rowid=False,
        comment="A row for each transaction that changed what a user sees, for some weeks. The last one stays.",
    )
    # Each log begins with a row in which nothing has changed yet, as `CompressedText` stores it.
    nothing = bindparam("nothing", b"\0{}", type_=LargeBinary())
    random = _RANDOM[op.get_bind().dialect.name]
    first = f"INSERT INTO changes SELECT user_id, 0, {random}, 0, :nothing FROM list_versions"  # noqa: S608 - a constant
    op.get_bind().execute(text(first).bindparams(nothing))
