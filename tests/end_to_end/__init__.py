"""Whole services, as their operators start, kill and lose them."""
