"""Pages about episodes: their chapters and transcripts, and the queue."""
