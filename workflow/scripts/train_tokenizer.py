"""Train a WordPiece tokenizer on a corpus."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.pretraining.vocabulary import train_tokenizer

    own = work.params.settings
    train_tokenizer(work.input[0], work.output[0], own["size"], own["lower_case"], own["max_length"])
