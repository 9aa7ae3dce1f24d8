"""Fine-tune an encoder, truncated after a layer, with a seed: one run, or several in turn."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.devices import choose_device
    from tmft.encoder import TruncatedEncoder, count_parameters, read_config
    from tmft.results import Provenance, make_in_turn, record, write_predictions
    from tmft.tokens import read_tokens
    from tmft.training import finetune

    settings, tokens_file = snakemake.params.settings, Path(snakemake.input.tokens)
    folders = dict(zip(snakemake.params.units, map(Path, snakemake.input.encoders), strict=True))
    device = choose_device(snakemake.config["device"], snakemake.threads, settings["precision"])
    tokens = read_tokens(tokens_file)
    provenances = {
        unit: Provenance.of(folder, tokens_file, settings, snakemake.params.code) for unit, folder in folders.items()
    }

    def make(layer: int, seed: int, predictions: Path) -> dict:
        folder = folders[layer, seed]
        encoder = TruncatedEncoder.load(folder, layer, random_seed=seed if settings["start"] == "random" else None)
        outcome = finetune(encoder, tokens, settings, seed, device)
        run = {key: snakemake.wildcards[key] for key in ("task", "recipe", "encoder")} | {"layer": layer, "seed": seed}
        parameters = count_parameters(read_config(folder), layer)._asdict()
        write_predictions(predictions, tokens.splits["test"], {layer: outcome.predictions})
        return record(run, outcome, parameters, tokens, provenances[layer, seed], device)

    make_in_turn(make, provenances, [Path(path) for path in snakemake.output.results])
