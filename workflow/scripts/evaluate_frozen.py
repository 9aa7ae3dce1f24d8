"""Score every layer of an encoder without training it."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.training.run import Runs

    Runs.of(work).evaluate(work.input.encoders[0], work.output.result)
