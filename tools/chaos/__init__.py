"""Breaks a running service on purpose and compares what it acknowledged with what its database holds."""
