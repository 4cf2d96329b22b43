"""Page handlers, one module a page."""
