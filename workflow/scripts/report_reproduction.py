"""Hold our results, or the published runs where there are no others, against the paper."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    import pandas as pd

    from tmft.results.published import read_published
    from tmft.results.records import read_records
    from tmft.results.reproduction import Ours, compare, compare_curves
    from tmft.results.reproduction_report import to_markdown
    from tmft.results.scores import TIDY, Scores, tidy, tidy_similarities
    from tmft.results.tables import RUN, tabulate_runs, version_note
    from tmft.runtime.files import read_json, write_csv, write_text

    params, paper = snakemake.params, snakemake.params.paper
    published = [Path(path) for path in snakemake.input.published]
    theirs = read_published(published, paper) if published else Scores(pd.DataFrame(columns=TIDY))
    if params.theirs:
        ours, curves = Ours(theirs, notebook=paper["notebook"]), Scores(pd.DataFrame(columns=TIDY))
        note = "*Ours* are the authors' own published runs; *means only* are their notebook's (docs/reproduction.md)."
    else:
        records = [record for path in snakemake.input.results for record in read_records(Path(path))]
        runs = tabulate_runs(records, [[record["run"][key] for key in RUN] for record in records])
        known = params.ours["encoders"]
        layers = [read_json(Path(path))["layers"] for path in snakemake.input.similarities]
        compared = [(known[key], *rest, own) for (key, *rest), own in zip(params.similarities, layers, strict=True)]
        curves = Scores(pd.concat([tidy(runs, known, params.ours["tasks"]), tidy_similarities(compared)]))
        costs = [pd.read_csv(path) for path in snakemake.input.costs]
        ours = Ours(curves, params.ours["foreign"], params.ours["comparable"], costs[0] if costs else None)
        note = version_note(runs)
    entries, behind = compare(paper, ours)
    beside = compare_curves(curves, theirs)
    for name, table in (("entries", entries), ("contrasts", behind), ("curves", beside)):
        write_csv(Path(snakemake.output[name]), table)
    drawing = Path(snakemake.output.curves).with_suffix(".png").name
    write_text(Path(snakemake.output.markdown), to_markdown(entries, behind, beside, drawing, note))
