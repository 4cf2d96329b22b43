"""Users, their sessions, keys and passwords."""
