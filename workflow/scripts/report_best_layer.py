"""Say which layer a search chose, by what evidence and at what cost."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.results.best_layer import closest_layer, layer_before_fall
    from tmft.results.best_layer_report import search_markdown, search_record, summary_of
    from tmft.results.layer_tables import best_layers
    from tmft.results.records import read_records
    from tmft.runtime.files import read_json, write_json, write_text

    def records(kind: str) -> list[dict]:
        return [record for path in snakemake.input.get(kind, []) for record in read_records(Path(path))]

    params, proposals = snakemake.params, {}
    if frozen := records("frozen"):
        proposals["frozen curve"] = int(best_layers(summary_of(frozen), params.metric)["layer"].iloc[0])
    for path in snakemake.input.get("similarities", []):
        layers = read_json(Path(path))["layers"]
        proposals["CKA, highest"], proposals["CKA, before its largest fall"] = (
            closest_layer(layers),
            layer_before_fall(layers),
        )
    rounds = [read_json(Path(path)) for path in snakemake.input.rounds]
    found = dict(snakemake.wildcards.items()) | {"recipe": params.recipe}
    found |= search_record(rounds, records("results"), params.metric, params.sweep_runs, proposals)
    write_json(Path(snakemake.output.json), found)
    write_text(Path(snakemake.output.markdown), search_markdown(found, params.labels))
