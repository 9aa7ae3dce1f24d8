"""Adapt an encoder to a corpus by masked language modelling."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.devices import choose_device
    from tmft.files import write_json
    from tmft.pretraining.adaptation import adapt
    from tmft.results import encoder_origin, environment

    settings, folder = snakemake.params.settings, Path(snakemake.input.encoder)
    origin = {
        "adaptation": snakemake.wildcards.adaptation,
        "settings": settings,
        "start": encoder_origin(folder),
    }
    device = choose_device(snakemake.config["device"], snakemake.threads)
    metrics = adapt(
        Path(snakemake.input.corpus),
        folder,
        Path(snakemake.output.encoder),
        settings,
        origin,
        device,
    )
    write_json(Path(snakemake.output.metrics), metrics | {"environment": environment(device)})
