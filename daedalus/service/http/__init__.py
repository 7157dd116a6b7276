"""The service over HTTP: the application, its routes, its limits and its errors."""
