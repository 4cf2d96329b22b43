"""Parsing of feeds."""
