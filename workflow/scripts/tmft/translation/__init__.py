"""Machine translation of sentence pairs by DeepL, and what was paid for. Imports datasets and the rooms below it."""
