"""The REST API: handlers turn requests into calls of services, and results into responses."""
