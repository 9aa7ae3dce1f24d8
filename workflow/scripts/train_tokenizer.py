"""Train a WordPiece tokenizer on a corpus."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.pretraining.vocabulary import train_tokenizer

    settings = snakemake.params.settings
    train_tokenizer(
        Path(snakemake.input[0]),
        Path(snakemake.output[0]),
        settings["size"],
        settings["lower_case"],
        settings["max_length"],
    )
