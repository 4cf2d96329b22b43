"""SQL of feed checks: claims, sources, results, entries."""
