"""The market: mechanisms, populations, bidders, rounds, outcomes, and what a designer sees."""
