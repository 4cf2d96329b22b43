"""Reading, searching, sharing and changing entries."""
