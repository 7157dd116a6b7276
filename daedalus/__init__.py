"""Daedalus: a laboratory where language models learn to design markets."""
