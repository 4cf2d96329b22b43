"""Where SQLite and PostgreSQL differ, and nowhere else: each difference is a named function of one of these modules."""
