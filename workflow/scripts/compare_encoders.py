"""Compare two encoders, each pre-trained or fine-tuned at every layer, layer by layer on a task's test sentences."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.results.representations import compare_states
    from tmft.runtime.devices import device_of
    from tmft.runtime.files import write_json

    params, device = work.params, device_of(work, work.params.precision)
    sides = zip(params.states, (work.input.first, work.input.second), work.input.tokens, strict=True)
    write_json(work.output[0], work.wildcards | compare_states(sides, params.precision, params.code, device))
