"""Users, sessions, API keys, and authentication."""
