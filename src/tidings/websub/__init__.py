"""WebSub, the subscriber's side."""
