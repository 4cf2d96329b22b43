"""Coverage-guided fuzzing of the parser and the cleaner: `make fuzz-ingestion`."""
