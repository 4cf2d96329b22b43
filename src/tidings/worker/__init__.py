"""The loops of a worker: polling, deliveries, WebSub, search index, cleanup."""
