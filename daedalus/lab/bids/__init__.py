"""From a log of bids to bidders' values, a population, and a mechanism with its report."""
