"""The tables of this slice, by part."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Table, UniqueConstraint

from tidings.engine.columns import instant, key, metadata, owner, words

# OpenID Connect

identities = Table(
    "identities",
    metadata,
    key(),
    owner(),
    words("issuer", None, "The provider, as it names itself."),
    words("subject", None, "The account there; with the issuer, it never names anybody else."),
    words("name", comment="How the provider called the user when they signed in the last time."),
    instant("created_at"),
    instant("last_used_at", nullable=True),
    UniqueConstraint("issuer", "subject"),
    Index("ix_identities_user", "user_id"),
    sqlite_autoincrement=True,
    comment="Accounts at OpenID Connect providers, each linked with one user.",
)

provider_sessions = Table(
    "provider_sessions",
    metadata,
    Column("session_id", ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    owner(),
    words("issuer", None),
    words("subject", None),
    words("provider_session_id", comment="Claim sid; empty if the provider does not say."),
    words("id_token", comment="The last one, as a hint for signing out; empty if it was too long."),
    Index("ix_provider_sessions_user", "user_id"),
    Index("ix_provider_sessions_subject", "issuer", "subject"),
    Index("ix_provider_sessions_provider_session", "issuer", "provider_session_id"),
    comment="Sessions that began at an OpenID Connect provider.",
)
