"""Which layers of an encoder to keep, found without any training (docs/shrink.md)."""

from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any

import numpy as np
import torch
from scipy import stats

from tmft.datasets.tokens import Tokens
from tmft.encoders.subsets import predict_subsets
from tmft.encoders.truncation import TruncatedEncoder, check_layer, count_parameters
from tmft.experiment.layers import Layer, kept, written
from tmft.experiment.metrics import METRIC_NAMES
from tmft.runtime.errors import InputError
from tmft.runtime.files import write_json, write_text
from tmft.training.loop import make_objective, score

EXHAUSTIVE = 6  # layers of an encoder all of whose subsets are tried
BEAM = 4  # subsets of each size from which one more layer is removed


def search_subsets(
    encoder: TruncatedEncoder, tokens: Tokens, settings: dict[str, Any], device: torch.device
) -> list[dict[str, Any]]:
    """The best subset of each size of a whole encoder's layers, zero-shot, the largest first.

    Two are named of each size: by the score on validation pairs, and, without labels, by how well the similarities of
    the same sentences agree with the whole encoder's (Spearman). Each comes with its layers, parameters, scores on
    validation and test (None where undefined), agreement, and ``chosen_by``.
    """
    objective = make_objective(settings, encoder.hidden_size)
    config, depth = encoder.model.config, encoder.layer
    found: dict[str, dict[Layer, np.ndarray]] = {"validation": {}, "test": {}}

    def predict(split: str, layers: Iterable[Layer]) -> dict[Layer, np.ndarray]:
        new = [layer for layer in layers if layer not in found[split]]
        if new:
            pairs = tokens.splits[split]
            found[split] |= predict_subsets(
                encoder, new, pairs, objective.predict, tokens.pad_id, settings["precision"], device
            )
        return found[split]

    def scored(split: str, layer: Layer) -> float | None:
        metrics = score(objective, split, predict(split, [layer])[layer], tokens.splits[split].labels)
        return None if metrics is None else metrics[objective.selection]

    def by_score(layers: list[Layer]) -> dict[Layer, float]:
        predict("validation", layers)
        scores = {layer: scored("validation", layer) for layer in layers}
        return {layer: -np.inf if value is None else value for layer, value in scores.items()}

    def by_agreement(layers: list[Layer]) -> dict[Layer, float]:
        predictions = predict("validation", [depth, *layers])
        return {layer: _agreement(predictions[layer], predictions[depth]) for layer in layers}

    def allowed(layer: Layer) -> bool:
        try:
            check_layer(config, layer)
        except InputError:
            return False
        return True

    rows = []
    for chosen_by, rank in (("validation", by_score), ("agreement", by_agreement)):
        for layer in best_of_each_size(depth, rank, allowed):
            validation, test = scored("validation", layer), scored("test", layer)
            rows.append(
                {
                    "layers": list(kept(layer)),
                    "chosen_by": chosen_by,
                    "parameters": count_parameters(config, layer).published,
                    "validation": validation,
                    "test": test,
                    "agreement": by_agreement([layer])[layer],
                }
            )
    return sorted(rows, key=lambda row: (-len(row["layers"]), row["chosen_by"] != "validation"))


def best_of_each_size(
    depth: int, rank: Callable[[list[Layer]], dict[Layer, float]], allowed: Callable[[Layer], bool]
) -> list[Layer]:
    """The best subset of each size, the largest first: of all of them, or by greedy removal with a beam."""
    best: list[Layer] = [depth]
    beam: list[Layer] = [depth]
    for size in range(depth - 1, 0, -1):
        if depth <= EXHAUSTIVE:
            candidates = [written(numbers) for numbers in combinations(range(1, depth + 1), size)]
        else:
            smaller = {numbers for layer in beam for numbers in combinations(kept(layer), size)}
            candidates = [written(numbers) for numbers in sorted(smaller)]
        candidates = [layer for layer in candidates if allowed(layer)]
        values = rank(candidates)
        beam = sorted(candidates, key=lambda layer: -values[layer])[:BEAM]
        best.append(beam[0])
    return best


def write_subsets(rows: list[dict[str, Any]], labels: dict[str, str], output: Any) -> None:
    """Write the rows of a search, and their table, to the files of a rule's ``output``."""
    write_json(output.json, rows)
    write_text(output.markdown, to_markdown(rows, labels))


def to_markdown(rows: list[dict[str, Any]], labels: dict[str, str]) -> str:
    """The table in Markdown; ``labels`` names encoder, task and metric."""
    lines = [
        f"**{labels['encoder']} on {labels['task']}, zero-shot.** {METRIC_NAMES[labels['metric']]} x 100 of subsets of "
        "its layers without any training: the best of each size by validation score, and by agreement with the whole "
        "encoder's similarities, which needs no labels.",
        "",
        "| Layers kept | Chosen by | Parameters (M) | Validation | Test | Agreement |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        numbers = [_number(row[key]) for key in ("validation", "test", "agreement")]
        layers = ", ".join(map(str, row["layers"]))
        lines.append(f"| {layers} | {row['chosen_by']} | {row['parameters'] / 1e6:.2f} | {' | '.join(numbers)} |")
    return "\n".join(lines) + "\n"


def _agreement(predictions: np.ndarray, whole: np.ndarray) -> float:
    value = float(stats.spearmanr(predictions, whole).statistic)
    return value if np.isfinite(value) else -1.0


def _number(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}"
