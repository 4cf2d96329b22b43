"""Handlers of the Google Reader API, one module a subject."""
