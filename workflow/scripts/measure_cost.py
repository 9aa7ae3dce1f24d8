"""Measure what a sentence costs at each layer of an encoder, on one CPU thread."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.export.speed import measure
    from tmft.runtime.files import write_json

    write_json(work.output[0], measure(work.input[0], work.threads))
