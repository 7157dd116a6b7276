"""The market as a service: OpenEnv, a session API over HTTP, a page, and a typed client.

It has four rooms. Each may import those after it, never one before it:

- ``http``: the application, its routes, its limits and its errors;
- ``page``: the static page, the offer, the tour, the newest run and the article;
- ``sessions``: the session store, the background designer, and the view of people who watch;
- ``openenv``: the environment, its messages, its rubric, and its clients.
"""
