"""Attacks on a running Tidings, over real sockets and in a real browser.

    __main__ ─► themes/<theme>.py (what is tried, as data, and how) ─► service, client, people, publisher, browser

It starts `python -m tidings serve` as an operator does and knows nothing of its inside: what it needs to know of the
routes it reads from /v1/openapi.json and from the links and forms of the pages.
"""
