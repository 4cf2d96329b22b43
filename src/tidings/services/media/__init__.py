"""Pictures of articles through this service: the publisher sees its address, not that of the reader."""
