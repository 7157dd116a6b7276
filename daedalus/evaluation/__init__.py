"""How designers are compared: paired episodes, statistics with intervals, figures."""
