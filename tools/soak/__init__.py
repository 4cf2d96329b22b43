"""Loads a running service for minutes, and looks for errors, delays and growth."""
