"""Files that can be fetched again."""
