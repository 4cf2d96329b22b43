"""The pages of the reader. docs/web.md explains how a page is added."""
