"""Reward terms, and the weighted stack that training maximises."""
