"""The market in the evaluators of others: an episode that a chat plays, and a task of Inspect."""
