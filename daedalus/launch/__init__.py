"""From a command to a run: settings, the command line, sweeps and studies of trials."""
