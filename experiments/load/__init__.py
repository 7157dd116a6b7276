"""The load generator: players, a service in its own process, and the figure of latencies."""
