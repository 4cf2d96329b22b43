"""Saved views: queries with a name, in the sidebar, the API, feeds, archives and apps."""
