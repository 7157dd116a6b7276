"""Supervised fine-tuning (SFT)."""
