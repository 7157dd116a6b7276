"""What a session plays: the market as an OpenEnv environment, its wire messages and its client."""
