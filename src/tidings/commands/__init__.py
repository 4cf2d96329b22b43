"""The commands of the command line, one module per group; `tidings.cli` registers them."""
