"""What every library shares: the root of the error tree, messages, times, and checks of short texts."""
