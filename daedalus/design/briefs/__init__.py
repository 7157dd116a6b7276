"""Briefs: what a seller asks for in sentences, and what these sentences mean."""
