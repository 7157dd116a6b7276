"""OpenEnv's checks of level three, measured on a running service."""
