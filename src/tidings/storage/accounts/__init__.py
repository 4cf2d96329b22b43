"""Users, sessions and API keys."""
