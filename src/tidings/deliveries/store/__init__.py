"""The outbox, the queues of receivers, and connected services."""
