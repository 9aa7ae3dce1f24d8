"""Pre-train a BERT from scratch by masked language modelling."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.devices import choose_device
    from tmft.files import write_json
    from tmft.pretraining.masked_language_modelling import pretrain
    from tmft.results import environment

    settings = snakemake.params.settings
    device = choose_device(snakemake.config["device"], snakemake.threads)
    metrics = pretrain(
        Path(snakemake.input.corpus),
        Path(snakemake.input.tokenizer),
        Path(snakemake.output.encoder),
        settings,
        settings["seed"],
        device,
    )
    write_json(Path(snakemake.output.metrics), metrics | {"environment": environment(device)})
