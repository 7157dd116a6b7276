"""The market and its briefs in evaluators of others: what a chat plays, tasks of Inspect."""
