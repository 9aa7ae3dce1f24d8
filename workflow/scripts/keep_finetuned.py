"""Fine-tune an encoder, truncated after a layer, with a seed, and keep its weights."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.training.run import Runs

    Runs.of(work).keep(work.input.encoders[0], *work.params.unit, work.output.encoder, work.output.result)
