"""Archives: a user's account as a file, to keep it or to move it to another service."""
