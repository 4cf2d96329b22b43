"""The way from any earlier schema to today's, run by Alembic."""
