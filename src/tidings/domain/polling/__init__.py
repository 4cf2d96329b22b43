"""Feed checks: what a response changes, and when the next check is."""
