"""Cleanup and the state of the service."""
