"""Pre-train encoders from scratch by the module of the objective."""

from importlib import import_module

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.pretraining.jobs import pretrain_by

    objective = import_module(f"tmft.pretraining.{work.params.settings['objective']}")
    pretrain_by(objective.pretrain, work)
