"""Live OPML: lists of feeds at an address, whose feeds come and go with the list."""
