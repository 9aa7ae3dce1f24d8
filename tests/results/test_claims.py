"""Claims about curves: what shows each rule, what refutes it, and what leaves it open."""

import numpy as np
import pandas as pd
import pytest

from tmft.results.claims import RULES, Statement, details, judge
from tmft.results.intervals import Estimate
from tmft.results.scores import TIDY, Cell, Scores, tidy

D, B, G = ["discriminator", "base"], ["bert", "base"], ["generator", "base"]
NOISE = np.array([-0.2, -0.1, 0.0, 0.1, 0.2])


def curve(
    encoder: list[str], scores: list[float], recipe: str = "tmft", task: str = "stsb-en", noise: float = 1.0, **other
) -> pd.DataFrame:
    """A curve with five replicates around these scores, another draw at each layer; parameters grow with the layer."""
    rows = [
        dict(zip(("role", "size"), encoder, strict=True))
        | {"recipe": recipe, "task": task, "layer": layer, "replicate": replicate, "split": "test"}
        | {"metric": "spearman", "score": score + noise * deviation, "collapsed": False}
        | {"depth": len(scores) - 1, "parameters": 10 * (layer + 1)}
        | other
        for layer, score in enumerate(scores)
        for replicate, deviation in enumerate(np.roll(NOISE, 2 * layer + len(encoder[0]) % 7))
    ]
    return pd.DataFrame(rows)[TIDY]


def verdict(statement: Statement) -> str:
    if not statement.known:
        return "no data"
    return "shown" if statement.p_not < 0.05 else "refuted" if statement.p_holds < 0.05 else "open"


def verdict_of(rule: str, *curves: pd.DataFrame, **arguments) -> str:
    return verdict(RULES[rule](Scores(pd.concat(curves)), **arguments))


def test_ahead_at_every_layer():
    bert = curve(B, [50, 60, 70])
    both = {"first": D, "second": B}
    assert verdict_of("ahead", bert, curve(D, [60, 65, 60]), layers=[0, 1], **both) == "shown"
    assert verdict_of("ahead", bert, curve(D, [60, 65, 60]), layers=[0, 1, 2], **both) == "refuted"
    assert verdict_of("ahead", bert, curve(D, [60, 60.1, 60]), layers=[0, 1], **both) == "open"
    assert verdict_of("ahead", bert, layers=[0], **both) == "no data"
    assert verdict_of("ahead", bert, curve(D, [60, 65, 60]), layers=[3], **both) == "no data"


def test_one_replicate_leaves_everything_open():
    single = pd.concat([curve(B, [50, 60]), curve(D, [90, 90])]).query("replicate == 0")
    assert verdict(RULES["ahead"](Scores(single), first=D, second=B, layers=[0, 1])) == "open"


def test_replicates_are_matched():
    """BERT and discriminator rise and fall together, by far more than they differ."""
    curves = [curve(one, [score, 0]) for one, score in ((B, 60), (D, 61))]
    for one in curves:
        one["score"] += 20 * one["replicate"]
    curves[1]["score"] += 0.1 * (curves[1]["replicate"] == 2)
    found = Scores(pd.concat(curves)).contrast(
        (1, Cell(*D, "tmft", "stsb-en", 0)), (-1, Cell(*B, "tmft", "stsb-en", 0))
    )
    assert found.mean == pytest.approx(1.02) and found.half_width < 0.5 and found.n == 5


def test_a_gain_at_nearly_all_layers():
    before, after = curve(B, [50, 60, 70, 80]), curve(B, [49, 65, 75, 85], "ws")
    arguments = {"recipe": "ws", "encoders": [B]}
    assert verdict_of("gain", before, after, share=0.75, **arguments) == "shown"
    assert verdict_of("gain", before, after, **arguments) == "refuted"
    assert verdict_of("gain", before, after, layers=[1, 3], **arguments) == "shown"


@pytest.mark.parametrize(
    ("scores", "falls"), [([50, 60, 70, 65], "shown"), ([50, 60, 65, 70], "refuted"), ([50, 60, 70, 69.95], "open")]
)
def test_an_inner_layer_above_the_last(scores, falls):
    assert verdict_of("inner_above_last", curve(D, scores), encoders=[D]) == falls
    last = {"shown": "refuted", "refuted": "shown", "open": "open"}[falls]
    assert verdict_of("best_at_last", curve(D, scores), encoders=[D]) == last


def test_the_last_layer_may_be_below_by_a_margin():
    scores = curve(G, [50, 60, 59])
    assert verdict_of("best_at_last", scores, encoders=[G]) == "refuted"
    assert verdict_of("best_at_last", scores, encoders=[G], margin=2) == "shown"


def test_a_curve_that_is_not_whole_has_no_last_layer():
    part = curve(D, [50, 70, 60]).assign(depth=12)
    for rule in ("inner_above_last", "best_at_last", "rise", "first_step_largest"):
        assert verdict_of(rule, part, encoders=[D]) == "no data"
    assert (
        verdict_of("level", part, curve(B, [50, 60]), first="discriminator", second="bert", sizes=["base"]) == "no data"
    )


def test_a_smaller_drop():
    arguments = {"encoder": D, "recipe": "dapt"}
    before = curve(D, [50, 80, 70])
    assert verdict_of("smaller_drop", before, curve(D, [50, 75, 73], "dapt"), **arguments) == "shown"
    assert verdict_of("smaller_drop", before, curve(D, [50, 90, 70], "dapt"), **arguments) == "refuted"
    assert verdict_of("smaller_drop", before, **arguments) == "no data"


def test_rising_almost_without_exception():
    assert verdict_of("rise", curve(B, [50, 60, 58, 70, 80]), encoders=[B], share=0.75) == "shown"
    assert verdict_of("rise", curve(B, [50, 60, 58, 70, 80]), encoders=[B]) == "refuted"


def test_the_first_step_is_the_largest_up_or_down():
    assert verdict_of("first_step_largest", curve(D, [50, 70, 75, 66]), encoders=[D]) == "shown"
    assert verdict_of("first_step_largest", curve(D, [50, 70, 75, 45]), encoders=[D]) == "refuted"
    assert verdict_of("first_step_largest", curve(D, [50, 60, 75]), encoders=[D]) == "refuted"


def test_level_is_not_far_below():
    arguments = {"first": "generator", "second": "bert", "sizes": ["base"]}
    bert = curve(B, [50, 80])
    assert verdict_of("level", bert, curve(G, [50, 60, 79.5]), **arguments) == "shown"
    assert verdict_of("level", bert, curve(G, [50, 60, 85]), **arguments) == "shown"
    assert verdict_of("level", bert, curve(G, [50, 60, 78]), **arguments) == "refuted"
    assert verdict_of("level", bert, curve(G, [50, 60, 79]), **arguments) == "open"


def test_the_front_has_just_its_members():
    """Parameters are 10, 20, 30 at layers 0, 1, 2, so BERT's best layer is the largest encoder."""
    bert, generator = curve(B, [50, 60, 80]), curve(G, [60, 70])
    below = curve(D, [40, 30], parameters=25)
    assert verdict_of("front", bert, generator, below, members=[B, G], others=[D]) == "shown"
    assert verdict_of("front", bert, generator, below, members=[B, G, D], others=[]) == "refuted"
    assert verdict_of("front", bert, generator, below, members=[B], others=[D, G]) == "refuted"
    unknown = {"members": [B, G], "others": [D, ["bert", "tiny"]]}
    found = RULES["front"](Scores(pd.concat([bert, generator, below])), **unknown)
    assert verdict(found) == "shown" and found.missing > 0


def test_what_has_no_data_may_still_hold():
    """Off the front, if not under the encoder that was run then perhaps under the one that was not."""
    scores = Scores(pd.concat([curve(B, [50, 60]), curve(D, [90, 90], parameters=100)]))
    assert verdict(RULES["front"](scores, members=[], others=[D, B])) == "refuted"
    assert verdict(RULES["front"](scores, members=[["generator", "base"]], others=[D, B])) == "open"


def test_a_claim_is_all_of_its_rules():
    scores = Scores(pd.concat([curve(B, [50, 60, 70]), curve(D, [60, 70, 65])]))
    ahead = {"rule": "ahead", "first": D, "second": B, "layers": [0, 1]}
    falls = {"rule": "inner_above_last", "encoders": [D, ["deberta", "base"]]}
    claim = judge({"rules": [ahead, falls]}, scores)
    assert verdict(claim) == "shown" and claim.missing == 1
    assert verdict(judge({"rules": [ahead, falls | {"encoders": [B]}]}, scores)) == "refuted"
    behind = details([(7, claim)])
    assert behind["what"].tolist() == [
        "discriminator base over bert base, tmft, layer 0",
        "discriminator base over bert base, tmft, layer 1",
        "discriminator base, stsb-en, tmft, layer 1 over 2",
    ]
    np.testing.assert_allclose(behind["difference"], [10, 10, 5], atol=0.5)
    assert set(behind["found"]) == {"shown"} and set(behind["claim"]) == {7}


def test_the_decisive_contrast_is_the_weakest_that_is_needed():
    parts = [Statement(str(mean), Estimate(mean, 0.1, 5)) for mean in (3, 1, 2)]
    assert Statement.all_of("", parts).decisive.what == "1"
    assert Statement.any_of("", parts).decisive.what == "3"
    assert Statement.all_of("", parts, share=0.6).decisive.what == "2"


def test_false_alarms_are_as_rare_as_they_should_be():
    """Two equal curves of four layers, 200 times: "ahead everywhere" is shown or refuted in at most 5 %."""
    generator, found = np.random.default_rng(0), []
    flat = pd.concat([curve(one, [60] * 4, noise=0) for one in (B, D)])
    for _ in range(200):
        scores = Scores(flat.assign(score=60 + generator.normal(size=len(flat))))
        found.append(verdict(RULES["ahead"](scores, first=D, second=B, layers=[0, 1, 2, 3])))
    assert found.count("shown") <= 2 and found.count("refuted") / 200 < 0.08


def test_tidy_takes_seeds_or_replicates_and_counts_collapsed_runs_as_constant_answers():
    columns = ["task", "recipe", "encoder", "layer", "seed", "parameters", "split", "metric", "value", "baseline"]
    rows = [["t", "tmft", key, 0, seed, 7, "test", "f1", value, 0.8] for key, seed, value in
            (("a", 0, 0.9), ("a", 1, None), ("b", 0, 0.5), ("other", 0, 0.1))]  # fmt: skip
    encoders = {
        "a": {"role": "bert", "size": "base", "depth": 0},
        "b": {"role": "bert", "size": "tiny", "depth": 0, "replicate": 5},
    }
    table = tidy(pd.DataFrame(rows, columns=columns), encoders, {"t": "mrpc"})
    assert table[["size", "task", "replicate", "collapsed"]].values.tolist() == [
        ["base", "mrpc", 0, False],
        ["base", "mrpc", 1, True],
        ["tiny", "mrpc", 5, False],
    ]
    np.testing.assert_allclose(table["score"], [90, 80, 50])
    note = Scores(table).collapsed_note(Cell("bert", "base", "tmft", "mrpc", 0, metric="f1"))
    assert note == "1 of 2 collapsed; without them 90.00"
