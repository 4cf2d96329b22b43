"""Subscriptions, categories, and what is found out about a feed besides its entries."""
