"""Outgoing connections: fetching documents, requests to hubs and services, and the address guard."""
