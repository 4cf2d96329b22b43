"""Input that is guided by what it reaches in the code: `make fuzz-ingestion`."""
