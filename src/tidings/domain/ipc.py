"""How processes of ours talk over pipes: what is said, and before it how long it is."""

from __future__ import annotations

# Of a question, and of an answer: its length in bytes, big-endian.
LENGTH_BYTES = 4
