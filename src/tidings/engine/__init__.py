"""Everything in which SQLite and PostgreSQL differ: each difference is a named function of one of these modules."""
