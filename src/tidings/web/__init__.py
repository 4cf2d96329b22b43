"""The pages people read in."""
