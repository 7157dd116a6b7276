"""Training algorithms: a folder for each, with its settings and its trainer.

``train(language_model, run)`` of each returns the trained language model. PPO alone is apart: it
trains a small network that reads numbers, in markets side by side, so it takes these instead.
"""
