"""Readers of the exports, databases and APIs of other feed readers."""
