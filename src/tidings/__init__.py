"""Tidings, a self-hosted feed reader service."""

__version__ = "0.2.2"
HOMEPAGE = "https://example.org/tidings"
