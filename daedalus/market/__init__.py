"""The simulated auction markets: mechanisms, populations, outcomes and observations."""
