"""Ways of signing in besides the password, second steps, and the log of what happens to accounts."""
