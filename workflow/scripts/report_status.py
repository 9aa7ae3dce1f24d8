"""Say how far the experiment is and what is left of it in hours."""

from pathlib import Path

from tmft.jobs import job
from tmft.progress import console

with job(snakemake):
    from tmft.files import write_csv, write_text
    from tmft.status import Survey, remarks, tabulate, to_markdown, to_text
    from tmft.work import Work

    params = snakemake.params
    survey = Survey([Work(**work) for work in params.works], Path("logs"), Path(params.calibration))
    table = tabulate(survey, params.figures)
    notes = remarks(survey, table)
    write_csv(Path("results/hours_left.csv"), table)
    write_text(Path("results/hours_left.md"), to_markdown(table, notes))
    print(to_text(table), *notes, sep="\n", file=console)
