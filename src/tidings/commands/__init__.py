"""The verbs of the command line, one small module for each kind; `tidings.cli` joins them."""
