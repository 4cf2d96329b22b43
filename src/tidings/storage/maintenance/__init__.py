"""Statements of cleanup, scheduled jobs and status."""
