"""The load generator: players, the service in a process of its own, and the figure of latencies."""
