"""Designers: settings that build what proposes mechanisms for an observed market."""
