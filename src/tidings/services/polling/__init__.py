"""Checking feeds: claim, fetch, ingest, store."""
