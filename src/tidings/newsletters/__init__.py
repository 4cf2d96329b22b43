"""Newsletters: secret addresses at which mail arrives, and what is known of its senders, each of which is a feed."""
