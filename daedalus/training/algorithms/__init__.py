"""Training algorithms: a folder for each, with its settings and its trainer."""
