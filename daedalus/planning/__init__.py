"""Looking ahead in forks of markets: states, futures, plans, and what is distilled from them."""
