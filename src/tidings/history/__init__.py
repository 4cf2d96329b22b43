"""Earlier versions of entries that their publishers changed, and the differences by word."""
