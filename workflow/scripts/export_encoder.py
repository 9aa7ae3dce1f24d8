"""Write a fine-tuned encoder as a folder for sentence-transformers, with an ONNX graph and a model card."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.pairs import read_pairs
    from tmft.datasets.tokens import read_tokens
    from tmft.export.folder import write_export
    from tmft.runtime.files import read_json
    from tmft.training.records import read_records

    [record], choice = read_records(work.input.result), read_json(work.input.choice)
    tokens, pairs = read_tokens(work.input.tokens), read_pairs(work.input.pairs)
    write_export(work.input.weights, choice, record, tokens, pairs, work.params.facts, work.threads, work.output[0])
