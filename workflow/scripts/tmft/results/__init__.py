"""From records of runs to tables, comparisons and choices. Imports training, pretraining and the rooms below them."""
