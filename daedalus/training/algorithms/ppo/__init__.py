"""Proximal policy optimisation (PPO: Schulman et al. 2017), by Stable-Baselines3."""
