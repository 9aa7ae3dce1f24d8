"""Draw test scores by layer as a page to look into."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.files import write_text
    from tmft.interactive import layer_curve_page, point_details
    from tmft.plots import BASELINES, layer_curve_points, metric_label
    from tmft.tables import read_table

    figure = snakemake.params.figure
    metric = figure["metrics"][0]
    runs, summary = (read_table(Path(path)) for path in (snakemake.input.runs, snakemake.input.summary))
    points, single = layer_curve_points(runs, summary, figure["lines"], metric)
    details = point_details(points, runs, metric)
    ylabel = metric_label(figure["task"], metric)
    page = layer_curve_page(details, single, figure["title"], ylabel, BASELINES.get(metric, ""))
    write_text(Path(snakemake.output[0]), page)
