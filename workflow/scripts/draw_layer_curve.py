"""Draw test scores by layer."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.figures.style import BASELINES, draw_layer_curve, layer_curve_points, metric_label, save
    from tmft.results.tables import read_table
    from tmft.runtime.files import write_csv

    figure = snakemake.params.figure
    metric = figure["metrics"][0]
    runs, summary = (read_table(Path(path)) for path in (snakemake.input.runs, snakemake.input.summary))
    points, single = layer_curve_points(runs, summary, figure["lines"], metric)
    ylabel = metric_label(figure["task"], metric)
    drawing = draw_layer_curve(points, single, figure["title"], ylabel, BASELINES.get(metric, ""))
    save(drawing, Path(snakemake.output.pdf), Path(snakemake.output.png))
    write_csv(Path(snakemake.output.csv), points)
