"""WebSub: subscriptions at hubs, and the documents that hubs push."""
