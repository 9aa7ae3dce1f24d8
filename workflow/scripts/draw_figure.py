"""Draw a figure by the module of its kind."""

from importlib import import_module

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.figures.style import save
    from tmft.runtime.files import write_csv

    figure = work.params.figure
    kind = import_module(f"tmft.figures.{figure['kind']}")
    points, *others = kind.points(work.input, figure)
    save(kind.draw(figure, points, *others), work.output.pdf, work.output.png)
    write_csv(work.output.csv, points)
