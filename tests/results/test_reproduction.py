"""The reproduction report: the paper's numbers as printed, verdicts that can fail, claims by rule, curve by curve."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from conftest import ROOT
from tmft.results.claims import judge
from tmft.results.published import COLUMNS, read_published
from tmft.results.reproduction import Ours, compare, compare_curves
from tmft.results.reproduction_report import to_markdown
from tmft.results.scores import TIDY, Scores, tidy
from tmft.runtime.errors import InputError

PAPER = yaml.safe_load((ROOT / "workflow" / "paper.yaml").read_text())
TABLES = re.compile(r"^\| ([^|]+) \| ([^|]+) \|(.+)\|$", re.MULTILINE)
SEEDS = range(5)


def scores(**curves: list[float]) -> Scores:
    """Scores of roles of base size on STSB: five seeds around each layer's mean, one tenth of a point apart."""
    rows = []
    for role, means in curves.items():
        for layer, mean in enumerate(means):
            for seed in SEEDS:
                rows.append(
                    {"role": role, "size": "base", "recipe": "tmft", "task": "stsb-en", "split": "test"}
                    | {"metric": "spearman", "layer": layer, "replicate": seed, "depth": len(means) - 1}
                    | {"score": mean + 0.1 * (seed - 2) + (0.05 if role == "bert" else 0) * (seed % 2)}
                    | {"collapsed": False, "parameters": 10 * layer + 10}
                )
    return Scores(pd.DataFrame(rows, columns=TIDY))


def found(rule: dict, **curves: list[float]) -> str:
    """Shown, refuted or open."""
    statement = judge({"rules": [rule]}, scores(**curves))
    if not statement.known:
        return "no data"
    return "shown" if statement.p_not < 0.025 else "refuted" if statement.p_holds < 0.025 else "open"


BASE = [["discriminator", "base"]]
AHEAD = {"rule": "ahead", "first": ["discriminator", "base"], "second": ["bert", "base"], "layers": [0, 1]}


@pytest.mark.parametrize(
    ("rule", "discriminator", "bert", "expected"),
    [
        (AHEAD, [50, 60], [40, 50], "shown"),
        (AHEAD, [50, 40], [40, 50], "refuted"),
        (AHEAD, [40, 50], [40, 50], "open"),
        (AHEAD, [50], [40], "shown"),
        ({"rule": "inner_above_last", "encoders": BASE}, [50, 60, 55], [0], "shown"),
        ({"rule": "inner_above_last", "encoders": BASE}, [50, 55, 60], [0], "refuted"),
        ({"rule": "best_at_last", "encoders": BASE}, [50, 55, 60], [0], "shown"),
        ({"rule": "best_at_last", "encoders": BASE}, [50, 60, 55], [0], "refuted"),
        ({"rule": "rise", "encoders": BASE}, [50, 55, 60], [0], "shown"),
        ({"rule": "rise", "encoders": BASE}, [50, 60, 55], [0], "refuted"),
        ({"rule": "rise", "encoders": BASE, "share": 0.5}, [50, 60, 55], [0], "shown"),
        ({"rule": "first_step_largest", "encoders": BASE}, [10, 60, 65, 60], [0], "shown"),
        ({"rule": "first_step_largest", "encoders": BASE}, [10, 20, 65, 60], [0], "refuted"),
        (
            {"rule": "level", "first": "discriminator", "second": "bert", "sizes": ["base"]},
            [50, 59.8],
            [50, 60],
            "shown",
        ),
        (
            {"rule": "level", "first": "discriminator", "second": "bert", "sizes": ["base"]},
            [50, 55],
            [50, 60],
            "refuted",
        ),
        ({"rule": "level", "first": "discriminator", "second": "bert", "sizes": ["large"]}, [50], [50], "no data"),
    ],
)
def test_a_rule_can_hold_and_fail(rule, discriminator, bert, expected):
    assert found(rule, discriminator=discriminator, bert=bert) == expected


def test_a_contrast_is_the_paired_t_interval_of_scipy():
    own = scores(discriminator=[50, 60], bert=[40, 50])
    statement = judge({"rules": [AHEAD]}, own)
    (_, contrast), *_ = statement.contrasts()
    differences = 10 - 0.05 * (np.arange(5) % 2)
    low, high = stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    estimate = contrast.estimate
    assert (estimate.mean - estimate.half_width, estimate.mean + estimate.half_width) == pytest.approx((low, high))


def test_a_spread_that_could_not_fail_is_no_verdict():
    """The large discriminator's last layer: seeds near 0 and near 80."""
    values = {"electra-large-discriminator": [0.8, 0.8, 0.0, 0.0, 0.1]}
    row = next(one for one in PAPER["rows"] if one["encoder"] in values and one["row"] == "last")
    table = published_table({("google/electra-large-discriminator", 24): values["electra-large-discriminator"]})
    entries, _ = compare(PAPER | {"rows": [row], "numbers": [], "claims": PAPER["claims"][:1]}, Ours(read(table)))
    assert set(entries.dropna(subset="ours").query("what.str.contains('test')")["verdict"]) == {"cannot tell"}


def published_table(cells: dict[tuple[str, int], list[float]]) -> pd.DataFrame:
    rows = [
        [model, "stsb-en", "tmft", layer, seed, split, value, value]
        for (model, layer), values in cells.items()
        for seed, value in enumerate(values)
        for split in ("validation", "test")
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def read(table: pd.DataFrame) -> Scores:
    from tmft.results.published import published_scores

    return published_scores(table, PAPER)


@pytest.mark.parametrize(("shift", "verdict"), [(0.0, "reproduced"), (0.02, "differs")])
def test_a_difference_is_shown_with_its_interval(shift, verdict):
    row = next(one for one in PAPER["rows"] if one["encoder"] == "bert-tiny")
    mean = row["test"][0] / 100 + shift
    table = published_table({("google/bert_uncased_L-2_H-128_A-2", 2): [mean + 0.0005 * (n - 2) for n in range(5)]})
    entries, _ = compare(PAPER | {"rows": [row], "numbers": [], "claims": PAPER["claims"][:1]}, Ours(read(table)))
    entry = entries[entries["what"].str.contains("test Spearman")].iloc[0]
    assert entry["verdict"] == verdict
    assert entry["difference"] == pytest.approx(100 * shift, abs=0.01) and entry["half_width"] > 0


def test_another_experiment_is_not_comparable():
    entries, _ = compare(PAPER, Ours(Scores(pd.DataFrame(columns=TIDY)), comparable=False))
    assert set(entries["verdict"]) == {"not comparable"}


def test_collapsed_runs_are_in_the_means_as_in_the_papers():
    runs = pd.DataFrame(
        {
            "task": "sts", "recipe": "tmft", "encoder": "b", "layer": 0, "seed": [0, 1], "split": "test",
            "metric": "spearman", "value": [0.8, np.nan], "baseline": np.nan, "parameters": 1,
        }
    )  # fmt: skip
    table = tidy(runs, {"b": {"role": "bert", "size": "base", "depth": 0}}, {"sts": "stsb-en"})
    assert table["score"].tolist() == [80.0, 0.0] and table["collapsed"].tolist() == [False, True]


# --- against what the paper prints and its authors published


@pytest.fixture(scope="module")
def printed(authors_scores) -> str:
    """What the paper prints, in Markdown."""
    page = Path(authors_scores).with_name("paper.md")
    if not page.is_file():
        pytest.skip("the page of what the paper prints is not here")
    return page.read_text(encoding="utf-8")


def test_both_tables_are_as_printed(printed):
    numbers = re.compile(r"\d+\.\d\d/\d+\.\d\d")
    lines = [line for line in printed.splitlines() if numbers.search(line)]
    expected = [[float(value) for pair in numbers.findall(line) for value in pair.split("/")] for line in lines]
    assert [row["validation"] + row["test"] for row in PAPER["rows"]] == expected
    layers = [int(re.search(r"\| *(\d+) *\|", line)[1]) for line in lines]
    assert [row["layer"] for row in PAPER["rows"]] == layers


def test_the_claims_are_the_texts(printed):
    claims = re.findall(r"^(\d+)\. ", printed[printed.index("## Claims") :], re.MULTILINE)
    own = {claim["claim"] for claim in PAPER["claims"]} | {number.get("claim") for number in PAPER["numbers"]}
    assert set(map(int, claims)) <= own


@pytest.fixture(scope="module")
def published(authors_scores) -> Scores:
    return read_published([str(authors_scores)], PAPER)


def test_without_any_training_nine_tenths_have_a_verdict(published):
    entries, behind = compare(PAPER, Ours(published, notebook=PAPER["notebook"]))
    computed = ~entries["verdict"].isin(["not run", "not comparable"])
    assert len(entries) > 150 and computed.mean() >= 0.9
    assert "differs" not in set(entries["verdict"])
    first = entries[entries["claim"] == 1]
    assert "holds" in set(first["verdict"])
    text = to_markdown(entries, behind, None, "Note.")
    assert f"{len(entries)} numbers and claims of the paper" in text and "cannot tell" in text


def test_each_published_curve_is_compared_layer_by_layer(published):
    curves = compare_curves(published, published)
    assert curves.groupby(["role", "size", "recipe", "task"]).ngroups == 27
    assert (curves["difference"] == 0).all() and not curves["shown"].any()


def test_a_file_without_the_columns_is_refused(tmp_path):
    (tmp_path / "runs.csv").write_text("model,task\nb,stsb\n")
    with pytest.raises(InputError, match=r"runs.csv: no column 'recipe'"):
        read_published([str(tmp_path / "runs.csv")], PAPER)
