"""Cleaning HTML and addresses."""
