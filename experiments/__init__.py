"""Thin experiments over the library: each module's ``main(config, out)`` runs one task."""
