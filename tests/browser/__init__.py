"""What a real browser makes of our HTML."""
