"""Adapt an encoder to a corpus by masked language modelling."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.pretraining.adaptation import adapt_encoder

    adapt_encoder(work)
