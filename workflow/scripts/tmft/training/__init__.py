"""Fine-tuning and evaluation of a truncated encoder. Imports encoders and the rooms below it."""
