"""The compiled loops of both markets: arrays and records in, arrays changed in place."""
