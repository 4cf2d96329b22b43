"""Splits texts into search terms, and parses search queries."""
