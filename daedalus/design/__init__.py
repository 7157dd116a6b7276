"""What a designer sees, wants, sets and searches, in one environment."""
