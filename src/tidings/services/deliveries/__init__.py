"""Sends events to the services that users have connected."""
