"""The Fever API, for apps that do not know the native API. It has one endpoint, at several URLs.

Source: docs/clients.md.
"""
