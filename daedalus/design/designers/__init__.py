"""Designers, which propose mechanisms for an observed market, and the settings that build them."""
