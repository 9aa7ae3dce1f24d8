"""Draw test scores against the compute of pre-training, a panel a task."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.figures.pretraining_efficiency import draw_efficiency, efficiency_points, flops_by_steps
    from tmft.figures.style import metric_label, save
    from tmft.results.tables import read_table
    from tmft.runtime.files import read_json, write_csv

    figure = snakemake.params.figure
    pretraining = map(read_json, map(Path, snakemake.input.pretraining))
    flops = dict(zip(figure["pretrainings"], map(flops_by_steps, pretraining), strict=True))
    encoders = [
        {key: point[key] for key in ("line", "encoder", "steps")}
        | {"flops": flops[point["pretraining"]][point["steps"]]}
        for point in figure["points"]
    ]
    metrics = {key: task["metrics"][0] for key, task in figure["tasks"].items()}
    labels = {key: metric_label(task["task"], metrics[key]) for key, task in figure["tasks"].items()}
    runs, summary = (read_table(Path(path)) for path in (snakemake.input.runs, snakemake.input.summary))
    points, single = efficiency_points(runs, summary, encoders, metrics)
    drawing = draw_efficiency(points, single, figure["title"], labels)
    save(drawing, Path(snakemake.output.pdf), Path(snakemake.output.png))
    write_csv(Path(snakemake.output.csv), points)
