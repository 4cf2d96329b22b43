"""Handlers of the REST API, one module a resource."""
