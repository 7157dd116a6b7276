"""Experiments on the library. ``main(config, out)`` of each module runs one task."""
