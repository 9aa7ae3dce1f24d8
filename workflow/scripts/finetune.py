"""Fine-tune an encoder, truncated after a layer, with a seed: one run, or several in turn."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.devices import choose_device
    from tmft.encoder import TruncatedEncoder, count_parameters, read_config
    from tmft.results import Provenance, make_in_turn, record
    from tmft.tokens import read_tokens
    from tmft.training import finetune

    settings = snakemake.params.settings
    folder, tokens_file = Path(snakemake.input.encoder), Path(snakemake.input.tokens)
    device = choose_device(snakemake.config["device"], snakemake.threads)
    tokens = read_tokens(tokens_file)
    provenance = Provenance.of(folder, tokens_file, settings, snakemake.params.code)

    def make(layer: int, seed: int) -> dict:
        encoder = TruncatedEncoder.load(folder, layer, random_seed=seed if settings["start"] == "random" else None)
        outcome = finetune(encoder, tokens, settings, seed, device)
        run = {key: snakemake.wildcards[key] for key in ("task", "recipe", "encoder")} | {"layer": layer, "seed": seed}
        parameters = count_parameters(read_config(folder), layer)._asdict()
        return record(run, outcome, parameters, tokens, provenance, device)

    make_in_turn(make, snakemake.params.units, [Path(path) for path in snakemake.output], provenance)
