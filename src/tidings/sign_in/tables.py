"""The tables of this slice, by part."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, Table, UniqueConstraint

from tidings.engine.columns import big, flag, instant, key, long_key, metadata, number, owner, words

# The log of accounts, links, limits

account_log = Table(
    "account_log",
    metadata,
    long_key(),
    Column(
        "user_id",
        Integer,
        ForeignKey("users.id", ondelete="CASCADE"),
        comment="Whose account it is; NULL for a refused name that nobody has, and for a user who was removed.",
    ),
    words("kind", None, "What happened: domain.accounts.events.EventKind."),
    words("username", comment="Of the user; empty for names that nobody has: a password may have been typed there."),
    words("method", comment="How the user proved to be who they are, or who did it; empty if unknown."),
    words("second_method", comment="The second step of a sign-in."),
    words("address", comment="From where; an asterisk for several addresses that share a row."),
    words("user_agent"),
    words("actor", comment="Name of the administrator who did it; empty for the user."),
    words("detail", comment="The name of a key, the reason of a refusal; no secrets."),
    number("times", 1, "How often it happened on this day."),
    instant("first_at"),
    instant("last_at"),
    Column(
        "merge_key",
        LargeBinary,
        comment="Digest of what the same events of a day have in common; NULL for events with rows of their own.",
    ),
    UniqueConstraint("merge_key"),
    Index("ix_account_log_user", "user_id", "last_at", "id"),
    Index("ix_account_log_last_at", "last_at", "id"),
    sqlite_autoincrement=True,
    comment="What happened to accounts in the last 90 days.",
)

account_links = Table(
    "account_links",
    metadata,
    key(),
    Column("token_hash", LargeBinary, nullable=False, comment="SHA-256 of the end of the link."),
    Column(
        "for_user_id",
        Integer,
        ForeignKey("users.id", ondelete="CASCADE"),
        index=True,
        comment="Who signs in with it; NULL for an invitation, with which someone creates an account.",
    ),
    words("note", comment="For whom it is, as the administrator calls them."),
    words("invited_by", comment="Name of the administrator; empty for the command line."),
    flag("is_admin", comment="The account that is created is an administrator's."),
    words("limits", "{}", "Of the account that is created, as JSON: see sign_in.limits_model."),
    instant("created_at"),
    instant("expires_at"),
    UniqueConstraint("token_hash"),
    Index("ix_account_links_expires", "expires_at"),
    sqlite_autoincrement=True,
    comment="Links that are used once: invitations, and sign-ins that the command line has made.",
)

account_limits = Table(
    "account_limits",
    metadata,
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("max_feeds", Integer, comment="NULL: as the settings say; 0: without limit."),
    Column("max_entries", Integer, comment="NULL: as the settings say; 0: without limit."),
    Column("max_megabytes", Integer, comment="NULL: as the settings say; 0: without limit."),
    Column("size_bytes", BigInteger, comment="What the articles take, as measured, and what arrived since."),
    instant("measured_at", nullable=True, comment="NULL: never, since there was no limit."),
    sqlite_with_rowid=False,
    comment="How much accounts may have, and the size of their articles.",
)

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

# Passkeys

passkeys = Table(
    "passkeys",
    metadata,
    key(),
    owner(),
    words("name", None, "The user's name for it."),
    Column("credential_id", LargeBinary, nullable=False, comment="As its authenticator chose it."),
    Column("public_key", LargeBinary, nullable=False, comment="A COSE key (RFC 9052)."),
    big("sign_count", "Signatures that its authenticator has counted; 0 if it does not count."),
    words("transports", comment="How browsers reach its authenticator, separated by blanks."),
    words("host", None, "Its relying party id: the host of BASE_URL when it was made."),
    flag("works_alone", comment="It needs no name and knows its user, so that it signs in without a password."),
    flag("is_syncable", comment="Its authenticator may copy it to other devices (backup eligible)."),
    flag("is_synced", comment="It was copied when it was used last (backup state)."),
    words("aaguid", comment="The model of its authenticator; zeros if that stays unknown."),
    instant("created_at"),
    instant("last_used_at", nullable=True, comment="NULL until it is used."),
    UniqueConstraint("credential_id"),
    Index(None, "user_id"),
    sqlite_autoincrement=True,
    comment="Passkeys (WebAuthn credentials), each of one user.",
)

spent_challenges = Table(
    "spent_challenges",
    metadata,
    Column("nonce", LargeBinary, primary_key=True),
    instant("expires_at", comment="From then on the challenge is refused anyway."),
    Index(None, "expires_at"),
    comment="Challenges that a passkey has answered: a copied answer is refused.",
)

# Second factors

second_factors = Table(
    "second_factors",
    metadata,
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    words("secret", comment="Of the authenticator app, in Base32; empty without an app."),
    big("last_step", "The 30-second step whose code was used last: a code works once."),
    flag("asks_for_passkey", comment="A passkey is asked for after the password."),
    comment="What follows the password at a sign-in; no row: nothing.",
)

recovery_codes = Table(
    "recovery_codes",
    metadata,
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("digest", LargeBinary, primary_key=True, comment="HMAC of the code; removed when it is used."),
    comment="Recovery codes that are left, each of which replaces a second factor once.",
)
