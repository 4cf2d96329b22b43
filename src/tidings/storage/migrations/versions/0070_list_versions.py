"""The version of what each user's lists show."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, Integer, PrimaryKeyConstraint, text

revision = "0070"
down_revision = "0069"
branch_labels = None
depends_on = None

_RANDOM = {"sqlite": "random() & 9007199254740991", "postgresql": "floor(random() * 9007199254740991)"}


def upgrade() -> None:
    op.create_table(
        "list_versions",
        Column("user_id", Integer(), autoincrement=False, nullable=False),
        Column(
            "version",
            BigInteger(),
            server_default=text("0"),
            nullable=False,
            comment="Random, another one after each change of what lists of the user show.",
        ),
        ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_list_versions_user_id_users"), ondelete="CASCADE"
        ),
        PrimaryKeyConstraint("user_id", name=op.f("pk_list_versions")),
        comment="Each user has a row.",
    )
    random = _RANDOM[op.get_bind().dialect.name]
    op.execute(f"INSERT INTO list_versions (user_id, version) SELECT id, {random} FROM users")  # noqa: S608 - a constant
