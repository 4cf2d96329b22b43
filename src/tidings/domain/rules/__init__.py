"""What users may decide about the entries of their feeds.

    filter | rewrite the address | scrape the page | rewrite title and content | filter again

Texts are checked when they are written (`validation`) and read once per poll (`pipeline`).
docs/rules.md explains every rule to a person.
"""
