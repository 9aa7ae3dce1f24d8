"""The benchmarks on a GPU: `PYTHONPATH=workflow/scripts:tests python benchmarks/gpu.py TABLE.md`, under 8 minutes.

Random weights and sentences of random letters, about as long as STSB's: no network, no data. Not run yet.
"""

import random
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import pandas as pd
import torch
from tiny import tiny_tokenizer
from transformers import AutoModel, BertConfig, DebertaV2Config, ElectraConfig, PreTrainedConfig

from contenders import BATCH, CONTENDERS, Data, Pipeline
from measure import in_turn
from tmft.datasets.tokens import read_tokens, write_tokens
from tmft.runtime.devices import choose_device

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SIZES: dict[str, PreTrainedConfig] = {
    "BERT base": BertConfig(),
    "ELECTRA large generator": ElectraConfig(
        embedding_size=1024, hidden_size=256, num_hidden_layers=24, num_attention_heads=4, intermediate_size=1024
    ),
    "DeBERTa-v3 base": DebertaV2Config(
        vocab_size=128100, relative_attention=True, position_buckets=256, norm_rel_ebd="layer_norm", share_att_key=True,
        pos_att_type="p2c|c2p", position_biased_input=False, type_vocab_size=0,
    ),
}  # fmt: skip
PRECISIONS = ("float32", "tf32", "bf16")
STEPS = 30
REPETITIONS = 2
SIDE_BY_SIDE = (1, 2, 4)
RUNS, RUN_STEPS = 2600, 10 * 180  # of the whole paper, about, and of one of them
PRODUCTS, SIZE = 20, 8192


def data(folder: Path) -> Data:
    chooser = random.Random(0)

    def sentence() -> str:
        return " ".join(chooser.choices(LETTERS, k=min(68, max(1, round(chooser.lognormvariate(2.4, 0.45))))))

    splits = {"train": STEPS * BATCH, "validation": 2, "test": 2}
    rows = [
        [f"{split}-{row}", split, sentence(), sentence(), chooser.uniform(0, 5)]
        for split, count in splits.items()
        for row in range(count)
    ]
    text = pd.DataFrame(rows, columns=["pair_id", "split", "sentence1", "sentence2", "label"])
    write_tokens(text, tiny_tokenizer("bert"), 70, folder / "tokens.parquet")
    return Data.of(read_tokens(folder / "tokens.parquet"), text)


def products_per_second(precision: str, device: torch.device) -> float:
    """Floating-point operations a second of large matrix products."""
    matrix = torch.ones(SIZE, SIZE, device=device, dtype=torch.bfloat16 if precision == "bf16" else torch.float32)

    def multiply() -> None:
        for _ in range(PRODUCTS):
            _ = matrix @ matrix
        torch.cuda.synchronize(device)

    (seconds,) = in_turn({precision: multiply}, REPETITIONS).values()
    return PRODUCTS * 2 * SIZE**3 / median(seconds)


def train_alone(folder: Path, layer: int) -> None:
    """Print the tokens a second of a run; several processes do so at once."""
    own = data(Path(tempfile.mkdtemp()))
    run = Pipeline(folder, layer, own, choose_device("cuda", 1), "float32")
    print(tokens_of(own) / median(in_turn({"train": run.train}, 3 * REPETITIONS)["train"]))


def tokens_of(own: Data) -> int:
    return sum(len(ids) for side in own.tokens.splits["train"].sides for ids in side)


def table(folder: Path) -> list[str]:
    own = data(folder)
    lines = [
        f"{torch.cuda.get_device_name()}; torch {torch.__version__}; {tokens_of(own) / STEPS:.0f} tokens a step",
        "",
    ]
    lines += ["| encoder | precision | contender | tokens/s | utilisation |", "| --- | --- | --- | ---: | ---: |"]
    for name, config in SIZES.items():
        place = folder / name.replace(" ", "-")
        torch.manual_seed(0)
        AutoModel.from_config(config).save_pretrained(place)
        tiny_tokenizer("bert").save_pretrained(place)
        weights = config.num_hidden_layers * (
            4 * config.hidden_size**2 + 2 * config.hidden_size * config.intermediate_size
        )
        for precision in PRECISIONS:
            device = choose_device("cuda", torch.get_num_threads(), precision)
            layer, rate = config.num_hidden_layers, products_per_second(precision, device)
            works = {key: kind(place, layer, own, device, precision).train for key, kind in CONTENDERS.items()}
            for key, seconds in in_turn(works, REPETITIONS).items():
                speed = tokens_of(own) / median(seconds)
                lines.append(f"| {name} | {precision} | {key} | {speed:,.0f} | {6 * weights * speed / rate:.0%} |")
    place, half = folder / "BERT-base", SIZES["BERT base"].num_hidden_layers // 2
    lines += ["", "| runs at once, BERT base at its middle layer | tokens/s | hours of the whole paper at this size |"]
    lines += ["| ---: | ---: | ---: |"]
    for count in SIDE_BY_SIDE:
        command = [sys.executable, __file__, str(place), str(half)]
        runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
        speed = sum(float(run.communicate()[0]) for run in runs)
        hours = RUNS * RUN_STEPS * tokens_of(own) / STEPS / speed / 3600
        lines.append(f"| {count} | {speed:,.0f} | {hours:.0f} |")
    return lines


def main() -> None:
    if len(sys.argv) == 3:
        train_alone(Path(sys.argv[1]), int(sys.argv[2]))
        return
    with tempfile.TemporaryDirectory() as folder:
        Path(sys.argv[1]).write_text("\n".join(table(Path(folder))) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
