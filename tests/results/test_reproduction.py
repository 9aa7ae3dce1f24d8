"""The reproduction report: verdicts on made-up results, and what is not run or not comparable."""

import pandas as pd
import pytest

from tmft.results.reproduction import Ours, compare, to_markdown, verdict

ROW = {
    "place": "Table 1",
    "recipe": "tmft",
    "encoder": "org/bert",
    "row": "best",
    "layer": 1,
    "parameters": 2.0,
    "validation": [60.0],
    "test": [50.0],
    "test_sd": [1.0],
}
CLAIM = {
    "text": "deep over shallow",
    "place": "text",
    "measure": "spearman",
    "difference": 10.0,
    "first": ["tmft", "org/bert", 1],
    "second": ["tmft", "org/bert", 0],
}
PAPER = {"metrics": ["spearman"], "seeds": 5, "rows": [ROW], "claims": [CLAIM]}


def ours(validation: list[float], test: list[float], sd: float = 0.01, n: int = 4, **changes) -> Ours:
    """Results of a BERT with these scores by layer."""
    rows = [
        ["sts", "tmft", "bert", layer, 1_000_000 * (layer + 1), split, "spearman", score, sd if n > 1 else None, n, 1]
        for split, scores in (("validation", validation), ("test", test))
        for layer, score in enumerate(scores)
    ]
    names = ["task", "recipe", "encoder", "layer", "parameters", "split", "metric", "mean", "sd", "n", "collapsed"]
    setting = {"encoders": {"org/bert": "bert"}, "depths": {"bert": 1}, "comparable": True, "foreign": []} | changes
    return Ours(pd.DataFrame(rows, columns=names), **setting)


def named(results: Ours) -> list[str]:
    """The verdicts on layer, parameters, validation, test and the claim."""
    return compare(PAPER, results)["verdict"].tolist()


def test_equal_numbers_are_reproduced():
    assert named(ours([0.5, 0.6], [0.4, 0.5])) == ["reproduced"] * 5


def test_difference_and_spread_are_shown():
    test = compare(PAPER, ours([0.5, 0.6], [0.4, 0.52])).iloc[3]
    assert (test["paper"], test["ours"], test["difference"]) == (50, pytest.approx(52), pytest.approx(2))
    assert (test["sd"], test["n"], test["collapsed"]) == (pytest.approx(1), 4, 1)


@pytest.mark.parametrize(
    ("difference", "error", "found"),
    [(0.5, 0, "reproduced"), (-0.5, 9, "reproduced"), (0.6, 0.3, "within noise"), (-0.7, 0.3, "differs")],
)
def test_verdict(difference, error, found):
    assert verdict(difference, error, 0.5) == found


@pytest.mark.parametrize(
    ("sd", "n", "found"),
    [
        (0.01, 4, "differs"),  # 2 points; standard errors 1 / 2 and 1 / sqrt(5)
        (0.02, 4, "within noise"),  # 2 / 2 and 1 / sqrt(5)
        (None, 1, "within noise"),  # one seed, the paper's sd stands for it: 1 and 1 / sqrt(5)
    ],
)
def test_noise_is_two_standard_errors_of_the_difference(sd, n, found):
    assert named(ours([0.5, 0.6], [0.4, 0.52], sd, n))[3] == found


def test_an_sd_the_paper_does_not_give_is_taken_to_be_ours():
    """1.2 points against 2 sqrt(1/4 + 1/5) = 1.34, then against half of that."""
    assert named(ours([0.5, 0.612], [0.4, 0.5], 0.01))[2] == "within noise"
    assert named(ours([0.5, 0.612], [0.4, 0.5], 0.005))[2] == "differs"


def test_another_best_layer_is_within_noise_if_validation_cannot_tell():
    assert named(ours([0.603, 0.6], [0.4, 0.5], 0.01))[0] == "within noise"
    assert named(ours([0.7, 0.6], [0.4, 0.5], 0.01))[0] == "differs"


def test_scores_are_compared_at_the_papers_layer():
    assert named(ours([0.7, 0.6], [0.9, 0.5]))[2:4] == ["reproduced", "reproduced"]


def test_a_claim_is_a_difference_of_two_layers():
    claim = compare(PAPER, ours([0.5, 0.6], [0.35, 0.5])).iloc[4]
    assert claim["ours"] == pytest.approx(15) and claim["verdict"] == "differs"
    assert claim["sd"] == pytest.approx(2**0.5)


def test_a_layer_that_is_missing_is_not_run():
    assert named(ours([0.5], [0.4])) == ["not run"] * 5
    only_deep = ours([0.5, 0.6], [0.4, 0.5])
    deep = Ours(only_deep.summary.query("layer == 1"), only_deep.encoders, only_deep.depths, True, [])
    assert named(deep) == ["not run", "reproduced", "reproduced", "reproduced", "not run"]


def test_an_encoder_that_the_experiment_lacks_is_not_run():
    assert named(ours([0.5, 0.6], [0.4, 0.5], encoders={})) == ["not run"] * 5


@pytest.mark.parametrize("change", [{"comparable": False}, {"foreign": ["tmft"]}])
def test_another_experiment_is_not_comparable(change):
    comparison = compare(PAPER, ours([0.5, 0.6], [0.4, 0.5], **change))
    assert set(comparison["verdict"]) == {"not comparable"}
    assert comparison["ours"].isna().all()


def test_report_counts_and_states_its_rule():
    text = to_markdown(compare(PAPER, ours([0.5, 0.6], [0.4, 0.52])))
    assert "5 numbers of the paper: 3 reproduced, 2 differs." in text
    assert "2 differs. Mixed." in to_markdown(compare(PAPER, ours([0.5, 0.6], [0.4, 0.52])), "Mixed.")
    assert "two standard errors" in text and "0.5 points" in text
    assert (
        "| Table 1 | tmft, org/bert, layer 1: test Spearman | 50 | 52 | +2.00 | 1.00 (4, 1 collapsed) | differs |"
        in text
    )
