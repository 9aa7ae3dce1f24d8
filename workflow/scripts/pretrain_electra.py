"""Pre-train an ELECTRA from scratch by replaced token detection."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.pretraining.replaced_token_detection import pretrain
    from tmft.results.records import environment
    from tmft.runtime.devices import choose_device
    from tmft.runtime.files import file_sha256, files_sha256, release, write_json
    from tmft.runtime.resuming import Checkpoint

    settings, result = snakemake.params.settings, Path(snakemake.output.metrics)
    corpus, tokenizer = Path(snakemake.input.corpus), Path(snakemake.input.tokenizer)
    device = choose_device(snakemake.config["device"], snakemake.threads, snakemake.config["gpu_slots"])
    identity = {
        "settings": settings,
        "corpus": file_sha256(corpus),
        "tokenizer": files_sha256(tokenizer.iterdir()),
        "code": snakemake.params.code,
        "device": device.type,
    }
    checkpoint = Checkpoint(result, identity, snakemake.config["checkpoint_minutes"]["pretrain"])
    folders = Path(snakemake.output.generator), Path(snakemake.output.discriminator)
    metrics = pretrain(corpus, tokenizer, *folders, settings, settings["seed"], device, checkpoint)
    write_json(result, metrics | {"environment": environment(device)})
    checkpoint.remove()
    release(map(Path, snakemake.output.snapshots))
