"""What is decided about feed checks."""
