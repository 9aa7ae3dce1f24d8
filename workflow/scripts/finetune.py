"""Fine-tune an encoder, truncated after a layer, with a seed: one run, or several in turn."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.training.run import Runs

    folders = dict(zip(map(tuple, work.params.units), work.input.encoders, strict=True))
    Runs.of(work).finetune_in_turn(folders, work.output.results)
