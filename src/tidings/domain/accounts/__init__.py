"""Users, sessions, API keys, and the limits on guessing passwords."""
