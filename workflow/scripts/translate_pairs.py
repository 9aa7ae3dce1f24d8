"""Translate a task's pairs."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.pairs import check, read_pairs, write_pairs
    from tmft.runtime.files import write_json
    from tmft.translation.cache import Direction, TranslationCache
    from tmft.translation.translate import translate_pairs

    params, cap = work.params, work.config["translation"]["cap"]
    asked = Direction(**params.direction), TranslationCache(Path(params.cache)), cap
    pairs, provenance = translate_pairs(read_pairs(work.input[0]), *asked)
    check(pairs, params.label_range, work.wildcards["task"])
    write_pairs(pairs, work.output.pairs)
    write_json(work.output.provenance, {"from": params.original, **provenance})
