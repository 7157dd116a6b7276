"""Run folders and their files, logs, phases and processes."""
