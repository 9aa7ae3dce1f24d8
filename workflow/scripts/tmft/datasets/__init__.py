"""Data sets: each reader yields one table of sentence pairs."""
