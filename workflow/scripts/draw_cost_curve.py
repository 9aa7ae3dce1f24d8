"""Draw test scores against the measured time of a sentence, encoders as lines."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    import pandas as pd

    from tmft.figures.cost_curve import cost_points, draw_cost_curve
    from tmft.figures.style import metric_label, save
    from tmft.runtime.files import write_csv

    figure = snakemake.params.figure
    tables = dict(zip(figure["encoders"].values(), map(pd.read_csv, snakemake.input), strict=True))
    points = cost_points(tables)
    drawing = draw_cost_curve(points, figure["title"], metric_label(figure["task"], figure["metrics"][0]))
    save(drawing, Path(snakemake.output.pdf), Path(snakemake.output.png))
    write_csv(Path(snakemake.output.csv), points)
