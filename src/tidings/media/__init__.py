"""The media proxy: which pictures and sounds of articles go through this service, and under which addresses."""
