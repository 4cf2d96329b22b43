"""A house with something in it: the real service, with feeds of our own writing, to look at and to measure."""
