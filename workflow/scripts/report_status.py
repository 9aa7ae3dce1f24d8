"""Say how far the experiment is and what is left of it in hours."""

from pathlib import Path

from tmft.runtime.job import job
from tmft.runtime.progress import console

with job(snakemake):
    from tmft.experiment.work import Work
    from tmft.results.status import Survey, remarks, tabulate, to_markdown, to_text
    from tmft.runtime.files import write_csv, write_text

    params = snakemake.params
    survey = Survey([Work(**work) for work in params.works], Path("logs"), Path(params.calibration))
    table = tabulate(survey, params.figures)
    notes = remarks(survey, table)
    write_csv(Path("results/hours_left.csv"), table)
    write_text(Path("results/hours_left.md"), to_markdown(table, notes))
    print(to_text(table), *notes, sep="\n", file=console)
