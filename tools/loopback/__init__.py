"""Shared by tests, abuse, chaos and soak: the service as processes, and what it talks to.

A publisher, a webhook receiver and an OpenID Connect provider on loopback, and an authenticator.
"""
