"""Translate a task's pairs."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.pairs import check, read_pairs, write_pairs
    from tmft.runtime.files import write_json
    from tmft.translation.translate import translate_to

    params, cap = work.params, work.config["translation"]["cap"]
    pairs, provenance = translate_to(params.direction, read_pairs(work.input[0]), params.cache, cap)
    check(pairs, params.label_range, work.wildcards["task"])
    write_pairs(pairs, work.output.pairs)
    write_json(work.output.provenance, {"from": params.original, **provenance})
