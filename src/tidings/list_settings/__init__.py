"""Order and layout of single lists, where their user wants something else than everywhere."""
