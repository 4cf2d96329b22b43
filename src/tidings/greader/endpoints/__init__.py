"""Handlers of the Google Reader API, one module per subject."""
