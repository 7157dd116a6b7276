"""Measuring: episodes and statistics, studies, auction theory, and logs of bids."""
