"""Events on their way to the services that users have connected."""
