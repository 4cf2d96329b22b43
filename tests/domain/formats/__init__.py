"""What publishers write, and what we make of it."""
