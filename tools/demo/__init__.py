"""The real service with feeds of our own writing, to take pictures of and to measure."""
