"""The model card of an exported encoder, in the form of the Hugging Face hub."""

import tomllib
from pathlib import Path
from typing import Any

from tmft.experiment.metrics import METRIC_NAMES

PROJECT = Path(__file__).parents[4] / "pyproject.toml"
PAPER = "[arXiv 2402.13130](https://arxiv.org/abs/2402.13130)"

CARD = """\
---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
tags: [sentence-transformers, sentence-similarity, feature-extraction]
{base_model}---

# {label}, layer {layer}, fine-tuned on {task}

{label}, cut after layer {layer} of {depth} (0 is the embeddings), by truncated model fine-tuning ({paper}).
A sentence's vector is the mean over its tokens, at most {max_length}; two vectors are compared by cosine similarity.

## Use

```python
from sentence_transformers import SentenceTransformer

encoder = SentenceTransformer("path/of/this/folder")
vectors = encoder.encode(["A dog sleeps.", "A child plays."])
print(encoder.similarity(vectors, vectors))
```

`model.onnx` maps `input_ids` and `attention_mask` (int64, sentences x tokens, as `tokenizer.json` gives them) to
`sentence_embedding`: the pooling is inside, both axes are dynamic.

## Scores

Of this encoder (seed {seed}, the best of its layer on validation), and over all seeds; times 100.

| split | metric | this encoder | mean ± standard deviation | seeds |
| --- | --- | ---: | ---: | --- |
{scores}

The vectors differ from those that were scored by at most {sentence_transformers:.1e}, those of ONNX by {onnx:.1e}.
{note}
## Sizes

- numbers in a vector: {hidden_size}
- layers: {layer} of {depth}
- parameters: {total:,}; {published:,} as the paper counts them (embeddings and layers)

## Data

- task: {task}, {pairs}
- from: {data}
- licence of the data: {licence}

## Protocol

{protocol}

## Provenance

- encoder: {encoder}
- sha256 of its files: {sha256}
- made by tmft {version}, training code {code}, {environment}

## Licence

These weights are derived from those of {label} and from the data above: the licences of both hold. The encoder's is
not known here; look it up where the encoder comes from.
"""

NOTES = {
    "cosine_regression": "",
    "cosine_logit": "A pair counts as positive from the cosine on that gave the best F1 on validation.\n",
    "difference_classification": "The linear classifier over [u; v; |u - v|] behind these scores is not included.\n",
}
"""What a reader of the scores should know, by objective."""


def model_card(
    facts: dict[str, Any],
    choice: dict[str, Any],
    record: dict[str, Any],
    differences: dict[str, float],
    hidden_size: int,
) -> str:
    """The card, in Markdown with a YAML head.

    ``facts`` are what the experiment says: label, depth and origin of the encoder, label, data, licence, objective and
    metrics of the task. ``choice`` is of `tmft.export.choice`, ``record`` the result of the run with these weights,
    ``differences`` the largest ones of the vectors, by format, and ``hidden_size`` their length.
    """
    provenance = record["provenance"]
    origin = _innermost(provenance["encoder"])
    hub = facts["encoder"].get("hub")
    splits = record["data"]["pairs"].items()
    return CARD.format(
        base_model=f"base_model: {hub}\n" if hub else "",
        label=facts["label"],
        layer=choice["layer"],
        depth=facts["depth"],
        task=facts["task"],
        paper=PAPER,
        max_length=record["data"]["max_length"],
        seed=choice["seed"],
        scores="\n".join(_score_rows(facts["metrics"], choice, record)),
        sentence_transformers=differences["sentence-transformers"],
        onnx=differences["onnx"],
        note=NOTES[facts["objective"]],
        hidden_size=hidden_size,
        **record["parameters"],
        pairs=", ".join(f"{number:,} {split}" for split, number in splits) + " pairs",
        data=facts["data"],
        licence=facts["licence"],
        protocol="\n".join(f"- {key}: {_text(value)}" for key, value in sorted(provenance["settings"].items())),
        encoder=_encoder(facts["encoder"], origin["commit"]),
        sha256=origin["sha256"],
        version=tomllib.loads(PROJECT.read_text())["project"]["version"],
        code=provenance["code"],
        environment=", ".join(f"{key} {record['environment'][key]}" for key in ("torch", "transformers", "device")),
    )


def _score_rows(metrics: list[str], choice: dict[str, Any], record: dict[str, Any]) -> list[str]:
    rows = []
    for score in choice["scores"]:
        if score["metric"] in metrics:
            own = record["metrics"][score["split"]][score["metric"]]
            spread = f" ± {100 * score['sd']:.2f}" if score["sd"] is not None else ""
            collapsed = f", {score['collapsed']} more collapsed" if score["collapsed"] else ""
            rows.append(
                f"| {score['split']} | {METRIC_NAMES[score['metric']]} | {100 * own:.2f} | "
                f"{100 * score['mean']:.2f}{spread} | {score['n']}{collapsed} |"
            )
    return rows


def _innermost(origin: dict[str, Any]) -> dict[str, Any]:
    """Where the first weights of a chain of trainings are from."""
    while "start" in origin["source"]:
        origin = origin["source"]["start"]
    return origin


def _encoder(source: dict[str, Any], commit: str | None) -> str:
    """The origin of an encoder in words."""
    if "hub" in source:
        return f"{source['hub']} on the Hugging Face hub, revision {commit}"
    if "pretraining" in source:
        return f"pre-trained from scratch in this experiment ({source['pretraining']}, {source['part']})"
    return f"the Python package {source['package']}" if "package" in source else f"the folder {source['path']}"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {part}" for key, part in value.items())
    return " to ".join(map(str, value)) if isinstance(value, list) else str(value)
