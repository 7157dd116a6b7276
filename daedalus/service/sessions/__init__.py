"""Sessions over HTTP: their store, what a watcher sees, and the designer in the background."""
