"""Events, deliveries and their retries."""
