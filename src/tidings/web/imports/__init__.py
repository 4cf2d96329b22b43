"""What the import page shows of the last import, and asks about an archive."""
