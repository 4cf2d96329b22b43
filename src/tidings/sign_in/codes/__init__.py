"""Second factors: codes of an authenticator app, recovery codes, and which step follows a password."""
