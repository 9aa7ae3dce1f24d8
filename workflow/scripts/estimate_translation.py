"""Estimate what the translations of the experiment will cost."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    import pandas as pd

    from tmft.datasets.pairs import read_pairs
    from tmft.runtime.files import write_json
    from tmft.translation.cache import Direction, TranslationCache
    from tmft.translation.translate import estimate

    pairs = {Path(path).stem: read_pairs(Path(path)) for path in snakemake.input.pairs}
    cache, *_ = [*snakemake.input.cache, ":memory:"]
    report = estimate(
        {
            task: (Direction(**direction), pairs[snakemake.params.originals[task]])
            for task, direction in snakemake.params.directions.items()
        },
        TranslationCache(Path(cache)),
        snakemake.params.cap,
    )
    write_json(Path(snakemake.output[0]), report)
    characters = {task: values["characters"] for task, values in report["tasks"].items()} | {"total": report["total"]}
    print(pd.DataFrame(characters).T.to_string(na_rep=""))
    print(f"cap {report['cap']['characters']}, left {report['cap']['left']}")
