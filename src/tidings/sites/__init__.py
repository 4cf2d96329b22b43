"""Well-known sites that are read through their APIs, and what only these know."""
