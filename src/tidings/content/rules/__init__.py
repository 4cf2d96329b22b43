"""Rules of users about the entries of their feeds.

    filter | rewrite the URL | scrape the page | rewrite title and content | filter again

Rules are checked when they are saved and compiled once per poll: `pipeline` does both.
docs/rules.md explains every rule.
"""
