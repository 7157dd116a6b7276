"""The simulated auction market: mechanisms, populations, rules, outcomes and observations."""
