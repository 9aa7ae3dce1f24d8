"""Pre-trained encoders: fetching, truncation, packing, dropout. Imports datasets and the rooms below it."""
