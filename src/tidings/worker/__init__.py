"""What runs by itself: polling, deliveries, tidying."""
