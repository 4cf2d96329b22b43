"""Live events: tells clients what changes, in the moment in which it is committed."""
