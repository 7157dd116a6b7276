"""Tuning: a study of trials that several workers play, on Optuna."""
