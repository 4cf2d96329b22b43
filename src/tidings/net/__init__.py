"""Every outgoing connection."""
