"""Truncated model fine-tuning: the library behind the pipeline's scripts."""
