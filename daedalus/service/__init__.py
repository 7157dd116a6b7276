"""The market as a service: OpenEnv, a session API over HTTP, and a typed client."""
