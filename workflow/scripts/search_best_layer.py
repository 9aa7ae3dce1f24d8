"""Search the best layer of an encoder, round by round."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.results.best_layer import proposals, search
    from tmft.results.best_layer_report import write_search
    from tmft.training.run import Runs

    params, folders = work.params, work.input.encoders
    runs = Runs.of(work, recipe=params.recipe)
    sweep = {(layer, seed): Path(file) for layer, seed, file in params.sweep}
    found = search(params.seeds, params.metric, sweep, lambda *unit: runs.find(folders[unit[0]], *unit, sweep[unit]))
    proposed = proposals(work.input.get("frozen"), work.input.get("similarities"), params.metric)
    write_search(found, proposed, runs.names, params, work.output)
