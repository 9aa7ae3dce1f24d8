"""What a reader may rely on in every figure: looks, intervals, n, limits, ticks, the front, and what a kind reaches."""

import ast

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from looks import looks
from matplotlib import pyplot as plt
from pipeline_runs import ROOT
from scipy import stats

from tmft.experiment.code_hash import reachable
from tmft.experiment.configuration import load
from tmft.experiment.figures import KINDS, figure_parameters
from tmft.experiment.looks import LOOKS, family_of
from tmft.figures import layer_curve
from tmft.figures.curves import curve_points
from tmft.figures.front import on_front
from tmft.figures.style import LEAST_SPAN, line_styles, log_ticks, new_figure, score_limits
from tmft.results.tables import summarise
from tmft.runtime.errors import InputError

SCENES = {"scenes": {"train": 9, "validation": 9, "test": 9}, "objective": "cosine_regression"}
LINES = [{"encoder": key, "recipe": "tmft", "label": label} for key, label in (("b", "BERT"), ("e", "ELECTRA"))]
FIGURE = {
    "title": "Title",
    "task": "STS",
    "metrics": ["spearman"],
    "looks": looks(BERT="bert", ELECTRA="discriminator"),
}


def small(encoders: dict, looks: dict | None = None) -> dict:
    curve = {"kind": "layer_curve", "task": "scenes", "recipes": ["tmft"], "encoders": list(encoders)}
    return {"encoders": encoders, "tasks": {"scenes": SCENES}, "figures": {"all": curve}, "looks": looks or {}}


def runs(seeds: list[int | None], spread: float = 0.02) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    common = {
        "task": "sts",
        "recipe": "tmft",
        "parameters": 1,
        "split": "test",
        "metric": "spearman",
        "baseline": np.nan,
    }
    rows = [
        common | {"encoder": encoder, "layer": layer, "seed": seed, "value": 0.7 + spread * generator.standard_normal()}
        for encoder in "be"
        for layer in range(3)
        for seed in seeds
    ]
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def texts(figure) -> str:
    """All that the picture says beside its axes."""
    legend = figure.legends[0].get_title().get_text()
    return "\n".join([legend, *(axes.get_title(loc="left") for axes in figure.axes)])


def test_the_encoders_of_the_paper_have_the_looks_of_their_roles():
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    paper = yaml.safe_load((ROOT / "workflow" / "paper.yaml").read_text())
    roles = {encoder["hub"]: encoder["role"] for encoder in paper["encoders"].values()}
    known = {key: own for key, own in config["encoders"].items() if own["hub"] in roles}
    assert len(known) == len(roles)
    assert {key: family_of(own) for key, own in known.items()} == {key: roles[own["hub"]] for key, own in known.items()}


def test_a_look_is_the_family_s_whatever_else_a_figure_shows():
    encoders = {
        "bert": {"hub": "google-bert/bert-base-cased", "depth": 2},
        "electra": {"hub": "google/electra-base-discriminator", "depth": 2},
        "own": {"hub": "someone/encoder", "depth": 2},
    }
    styles = [
        line_styles(figure_parameters(load(small({key: encoders[key] for key in keys}), {}), "all")["looks"])
        for keys in (["bert", "electra", "own"], ["own", "electra"], ["electra"])
    ]
    assert styles[0]["electra"] == styles[1]["electra"] == styles[2]["electra"]
    assert styles[0]["own"] == styles[1]["own"]
    assert len({(style["color"], style["marker"]) for style in styles[0].values()}) == 3


def test_a_look_can_be_chosen_and_added():
    own = {"colour": "#123456", "marker": "D"}
    encoders = {"mine": {"hub": "google-bert/bert-base-cased", "depth": 2, "drawn_as": "house"}}
    drawn = figure_parameters(load(small(encoders, {"house": own}), {}), "all")["looks"]
    assert drawn == {"mine": {"family": "house", "dashes": "-"} | own}
    with pytest.raises(InputError, match=r"encoders\.mine\.drawn_as: 'house' is no family; choose from bert, .*looks"):
        load(small(encoders), {})


def test_lines_of_one_family_differ_in_shade_and_share_the_marker():
    styles = line_styles(looks(**{f"size{number}": "bert" for number in range(6)}))
    assert {style["marker"] for style in styles.values()} == {LOOKS["bert"]["marker"]}
    lightness = [sum(int(style["color"][place : place + 2], 16) for place in (1, 3, 5)) for style in styles.values()]
    assert lightness == sorted(lightness, reverse=True) and len(set(lightness)) == 6


def test_the_band_is_the_t_interval_of_the_mean():
    table = runs([0, 1, 2, 3, 4])
    points, single = curve_points(table, summarise(table), LINES)
    for point in points.itertuples():
        own = single[(single["line"] == point.line) & (single["layer"] == point.layer)]["value"]
        low, high = stats.t.interval(0.95, len(own) - 1, own.mean(), stats.sem(own))
        np.testing.assert_allclose([point.mean - point.half_width, point.mean + point.half_width], [low, high])


@pytest.mark.parametrize(
    ("seeds", "said", "unsaid"),
    [
        ([0, 1, 2, 3, 4], ["n = 5 seeds", "95 % t interval"], ["one seed"]),
        ([0], ["n = 1 seed", "one seed"], ["interval"]),
        ([None], ["no training, so no seeds"], ["one seed", "n = "]),
    ],
)
def test_a_figure_says_how_many_seeds_it_is_of(seeds, said, unsaid):
    table = runs(seeds)
    text = texts(layer_curve.draw(FIGURE, *curve_points(table, summarise(table), LINES)))
    assert all(words in text for words in said) and not any(words in text for words in unsaid)


def test_collapsed_seeds_are_not_counted_in_n():
    table = runs([0, 1, 2])
    table.loc[0, "value"] = np.nan
    text = texts(layer_curve.draw(FIGURE, *curve_points(table, summarise(table), LINES)))
    assert "n = 2 to 3 seeds" in text


@given(st.lists(st.floats(-100, 100), min_size=1), st.floats(0, 100))
def test_the_score_axis_holds_all_values_and_is_never_stretched(values, baseline):
    _, axes = new_figure()
    score_limits(axes, values, [baseline, np.nan])
    low, high = axes.get_ylim()
    assert high - low >= LEAST_SPAN and low <= min([*values, baseline]) and max([*values, baseline]) <= high
    plt.close(axes.figure)


@given(st.floats(-3, 20), st.floats(0.05, 6))
def test_a_log_axis_has_at_least_three_ticks(exponent, decades):
    low, high = 10**exponent, 10 ** (exponent + decades)
    ticks = log_ticks(low, high)
    assert 3 <= len(ticks) <= 14 and ticks == sorted(set(ticks))
    assert all(low <= tick <= high for tick in ticks)


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=12))
def test_the_front_has_the_points_that_none_dominates(values):
    points = pd.DataFrame(values, columns=["cost", "score"])
    for (cost, score), front in zip(values, on_front(points, "cost", "score"), strict=True):
        best = max(other for less, other in values if less <= cost)
        cheapest = min(less for less, other in values if other >= score)
        assert front == (score == best and cost == cheapest)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_reaches_neither_another_kind_nor_torch(kind):
    scripts = ROOT / "workflow" / "scripts"
    modules = {name: scripts / "tmft" / "figures" / f"{name}.py" for name in KINDS}
    reached = reachable(scripts / "draw_figure.py", modules[kind])
    assert reached & set(modules.values()) == {modules[kind]}
    top = [node for path in reached for node in ast.parse(path.read_text()).body]
    named = {name.name for node in top if isinstance(node, ast.Import) for name in node.names}
    named |= {node.module or "" for node in top if isinstance(node, ast.ImportFrom)}
    assert not {module.split(".")[0] for module in named} & {"torch", "transformers"}
