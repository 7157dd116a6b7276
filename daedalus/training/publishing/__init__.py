"""Publishing: a model folder with a card made from a run's files, and its upload to the hub."""
