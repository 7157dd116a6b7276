"""What a visitor finds: the static page, the choices on offer, the tour, the newest run."""
