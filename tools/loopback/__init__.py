"""What chaos and soak share: the service as real processes, a publisher and a webhook receiver on loopback."""
