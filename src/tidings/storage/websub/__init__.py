"""Subscriptions at WebSub hubs, and pushed documents."""
