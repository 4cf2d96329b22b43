"""SQL of cleanup, scheduled jobs and status."""
