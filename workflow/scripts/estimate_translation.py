"""Estimate what the translations of the experiment will cost."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.pairs import read_pairs
    from tmft.runtime.files import write_json
    from tmft.translation.translate import estimate_to, to_text

    params, pairs = work.params, {path.stem: read_pairs(path) for path in work.input.pairs}
    tasks = {key: (own, pairs[params.originals[key]]) for key, own in params.directions.items()}
    report = estimate_to(tasks, work.input.cache, params.cap)
    write_json(work.output[0], report)
    print(to_text(report))
