"""Pre-train a BERT from scratch by masked language modelling."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.devices import choose_device
    from tmft.files import write_json
    from tmft.pretraining.masked_language_modelling import pretrain

    settings = snakemake.params.settings
    metrics = pretrain(
        Path(snakemake.input.corpus),
        Path(snakemake.input.tokenizer),
        Path(snakemake.output.encoder),
        settings,
        settings["seed"],
        choose_device(snakemake.config["device"], snakemake.threads, snakemake.config["gpu_slots"]),
    )
    write_json(Path(snakemake.output.metrics), metrics)
