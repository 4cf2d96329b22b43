"""Coverage-guided fuzzing of the parser, the cleaner and the reader of letters: `make fuzz-ingestion`."""
