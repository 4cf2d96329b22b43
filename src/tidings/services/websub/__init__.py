"""WebSub: subscriptions at hubs, and what hubs push."""
