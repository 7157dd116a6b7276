"""Auction theory, and the strategic market measured against it."""
