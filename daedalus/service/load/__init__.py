"""The load generator: players, and a service in its own process."""
