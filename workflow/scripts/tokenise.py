"""Tokenise a task's pairs for one encoder."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from transformers import AutoTokenizer

    from tmft.datasets.pairs import read_pairs
    from tmft.datasets.tokens import write_tokens
    from tmft.encoders.truncation import read_config, usable_length

    folder = Path(snakemake.input.encoder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    longest = usable_length(read_config(folder), tokenizer)
    max_length = min(snakemake.params.max_length or longest, longest)
    write_tokens(read_pairs(Path(snakemake.input.pairs)), tokenizer, max_length, Path(snakemake.output[0]))
