"""The tables of signing in."""

from __future__ import annotations
