"""Passkeys: signing in without a password, and as the second step after it (WebAuthn)."""
