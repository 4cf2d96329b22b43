"""The providers, one module for each service."""
