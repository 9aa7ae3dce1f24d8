"""Search the best layer of an encoder, round by round."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.results.best_layer import proposals, search_by
    from tmft.results.best_layer_report import write_search
    from tmft.training.run import Runs

    params, runs = work.params, Runs.of(work, recipe=work.params.recipe)
    found = search_by(runs, work.input.encoders, params.seeds, params.metric, params.sweep)
    proposed = proposals(work.input.get("frozen"), work.input.get("similarities"), params.metric)
    write_search(found, proposed, runs.names, params, work.output)
