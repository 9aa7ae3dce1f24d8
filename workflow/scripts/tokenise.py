"""Tokenise a task's pairs for one encoder."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from transformers import AutoTokenizer

    from tmft.datasets.pairs import read_pairs
    from tmft.datasets.tokens import write_tokens
    from tmft.encoders.truncation import read_config, usable_length

    tokenizer = AutoTokenizer.from_pretrained(work.input.encoder)
    longest = usable_length(read_config(work.input.encoder), tokenizer)
    max_length = min(work.params.max_length or longest, longest)
    write_tokens(read_pairs(work.input.pairs), tokenizer, max_length, work.output[0])
