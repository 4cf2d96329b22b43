"""What is decided without touching the world: values in, values out."""
