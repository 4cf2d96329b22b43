"""Shared by chaos and soak: the service as processes, a publisher and a webhook receiver on loopback."""
