"""Sends events to the services that users connect: the outbox, the queues, and the providers."""
