"""What has changed for a client since it last asked, in pages, with what was deleted (docs/sync.md)."""
