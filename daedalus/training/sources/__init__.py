"""Where the prompts and the rewards of reinforcement learning come from."""
