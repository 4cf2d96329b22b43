"""One module for each service."""
