"""Cleaning of HTML and URLs."""
