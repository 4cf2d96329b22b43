"""The rewrite rules, by what they change."""
