"""Studies of designers and of the market: what they do, understand and lose."""
