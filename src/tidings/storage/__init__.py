"""All SQL statements, the tables and their migrations."""
