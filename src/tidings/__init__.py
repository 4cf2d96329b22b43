"""Tidings, a self-hosted feed reader service."""

__version__ = "0.3.0"
HOMEPAGE = "https://example.org/tidings"
