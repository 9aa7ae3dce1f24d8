"""Pre-training of encoders from scratch: masked language modelling (BERT) and replaced token detection (ELECTRA)."""
