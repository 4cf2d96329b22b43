"""Articles as pages show them: cleaned when they were stored, prepared for the reader when they are shown."""
