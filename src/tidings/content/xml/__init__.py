"""Parses the XML of feeds: damaged, with entities, in several namespaces."""
