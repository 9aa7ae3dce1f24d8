"""Fine-tune an encoder, truncated after a layer, with a seed, and keep its weights."""

from dataclasses import asdict
from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.checkpoints import load_tokenizer
    from tmft.devices import choose_device
    from tmft.encoder import TruncatedEncoder
    from tmft.pretraining.encoders import save
    from tmft.results import Provenance, environment
    from tmft.tokens import read_tokens
    from tmft.training import finetune

    settings = snakemake.params.settings
    folder, tokens_file = Path(snakemake.input.encoder), Path(snakemake.input.tokens)
    layer, seed = int(snakemake.wildcards.layer), int(snakemake.wildcards.seed)
    device = choose_device(snakemake.config["device"], snakemake.threads)
    encoder = TruncatedEncoder.load(folder, layer, random_seed=seed if settings["start"] == "random" else None)
    outcome = finetune(encoder, read_tokens(tokens_file), settings, seed, device)
    origin = {
        "finetuned": dict(snakemake.wildcards.items()),
        "status": outcome.status,
        "reason": outcome.reason,
        "metrics": outcome.metrics,
        "provenance": asdict(Provenance.of(folder, tokens_file, settings, snakemake.params.code)),
        "environment": environment(device),
    }
    save(encoder.model, load_tokenizer(folder), Path(snakemake.output[0]), origin)
