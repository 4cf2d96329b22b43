"""The Google Reader API, compatible with FreshRSS and Miniflux: for apps that do not know the native API.

Sources: the clients, and docs/clients.md for what was tried.
"""
