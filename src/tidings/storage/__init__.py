"""Every SQL statement, the tables and their migrations."""
