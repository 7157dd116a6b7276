"""Designers: everything that looks at a market and proposes its rules."""
