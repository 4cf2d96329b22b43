"""Serves agents: programs with a language model that read and tidy for a user, by the Model Context Protocol.

Source: https://modelcontextprotocol.io/specification/2026-07-28
"""
