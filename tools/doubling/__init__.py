"""Looks for readers of text from outside whose processor time grows faster than the text.

    texts (what is repeated) ─┐
                              ├─► growth (time N and 4 N) ─► a finding, or ""
    readers (what reads it) ──┘

Shared by the test and by `make abuse`. `python -m doubling` prints each reader and text.
"""
