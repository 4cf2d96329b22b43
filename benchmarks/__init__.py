"""How fast it is, measured: `make bench`. Figures, not tests: nothing here passes or fails."""
