"""Adapt an encoder to a corpus by masked language modelling."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.pretraining.adaptation import adapt
    from tmft.results.records import encoder_origin, environment
    from tmft.runtime.devices import choose_device
    from tmft.runtime.files import file_sha256, write_json
    from tmft.runtime.resuming import Checkpoint

    settings, result = snakemake.params.settings, Path(snakemake.output.metrics)
    corpus, folder = Path(snakemake.input.corpus), Path(snakemake.input.encoder)
    device = choose_device(snakemake.config["device"], snakemake.threads, snakemake.config["gpu_slots"])
    origin = {"adaptation": snakemake.wildcards.adaptation, "settings": settings, "start": encoder_origin(folder)}
    identity = origin | {"corpus": file_sha256(corpus), "code": snakemake.params.code, "device": device.type}
    checkpoint = Checkpoint(result, identity, snakemake.config["checkpoint_minutes"]["pretrain"])
    metrics = adapt(corpus, folder, Path(snakemake.output.encoder), settings, origin, device, checkpoint)
    write_json(result, metrics | {"environment": environment(device)})
    checkpoint.remove()
