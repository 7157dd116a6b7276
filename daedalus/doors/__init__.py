"""Other ways in: Python, Gymnasium, Inspect, verifiers and the hub."""
