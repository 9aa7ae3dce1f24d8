"""Claims about curves, each a rule that can fail: statements about contrasts, by layer, encoder and task.

A rule takes ``Scores`` and the arguments that a claim gives it, and returns a Statement. Nothing here knows of files.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import pandas as pd

from tmft.results.intervals import Estimate, p_fewer_than
from tmft.results.scores import Cell, Scores

Encoder = Sequence[str]  # role and size
TASK, RECIPE = "stsb-en", "tmft"


@dataclass(frozen=True)
class Statement:
    """A contrast that is above ``threshold``, or so many (``needed``) of several statements; no data if neither."""

    what: str
    estimate: Estimate | None = None
    threshold: float = 0.0
    parts: tuple["Statement", ...] = ()
    needed: int = 0
    missing: int = 0  # parts without data
    alternatives: bool = False  # one of the parts is enough

    @classmethod
    def all_of(cls, what: str, parts: Iterable["Statement"], share: float = 1.0) -> "Statement":
        """This share of the parts that have data."""
        known, missing = _with_data(parts)
        return cls(what, parts=known, needed=math.ceil(share * len(known) - 1e-9), missing=missing)

    @classmethod
    def any_of(cls, what: str, parts: Iterable["Statement"]) -> "Statement":
        """One of the parts at least."""
        known, missing = _with_data(parts)
        return cls(what, parts=known, needed=1, missing=missing, alternatives=True)

    @property
    def known(self) -> bool:
        return self.estimate is not None or bool(self.parts)

    @property
    def p_not(self) -> float:
        """The p-value of the hypothesis that it does not hold: small where it is shown."""
        if self.estimate is not None:
            return self.estimate.p_not_above(self.threshold)
        return p_fewer_than(self.needed, [part.p_not for part in self.parts])

    @property
    def p_holds(self) -> float:
        """The p-value of the hypothesis that it holds: small where it is refuted."""
        if self.estimate is not None:
            return self.estimate.p_not_below(self.threshold)
        if self.missing and self.alternatives:
            return 1.0  # one of those without data may hold
        return p_fewer_than(len(self.parts) - self.needed + 1, [part.p_holds for part in self.parts])

    @property
    def decisive(self) -> "Statement":
        """The contrast on which it depends: of all the weakest, of any the strongest."""
        if self.estimate is not None:
            return self
        strongest_first = sorted((part.decisive for part in self.parts), key=lambda part: -part.excess)
        return strongest_first[self.needed - 1]

    @property
    def excess(self) -> float:
        return self.estimate.mean - self.threshold

    def contrasts(self) -> Iterator[tuple[str, "Statement", "Statement"]]:
        """Each contrast with its full name and the statement that it stands for: of alternatives the strongest."""
        if self.estimate is not None:
            yield self.what, self, self
        elif self.alternatives:
            yield ", ".join(filter(None, (self.what, self.decisive.what))), self.decisive, self
        else:
            for part in self.parts:
                for what, *found in part.contrasts():
                    yield ", ".join(filter(None, (self.what, what))), *found


def judge(claim: dict[str, Any], scores: Scores) -> Statement:
    """The statement of a claim: all of its ``rules``, each the name of a rule and its arguments."""
    return Statement.all_of("", (RULES[rule["rule"]](scores, **_arguments(rule)) for rule in claim["rules"]))


def ahead(
    scores: Scores, first: Encoder, second: Encoder, layers: list[int], recipe: str = RECIPE, task: str = TASK
) -> Statement:
    """One encoder is above another at each of these layers."""
    names = f"{_name(first)} over {_name(second)}, {recipe}"
    cells = ((layer, *(Cell(*encoder, recipe, task, layer) for encoder in (first, second))) for layer in layers)
    return Statement.all_of(names, (_above(scores, f"layer {layer}", one, other) for layer, one, other in cells))


def gain(
    scores: Scores,
    encoders: list[Encoder],
    recipe: str,
    over: str = RECIPE,
    task: str = TASK,
    layers: list[int] | None = None,
    share: float = 1.0,
) -> Statement:
    """A recipe is above another at this share of the layers (all without ``layers``) of these encoders."""
    parts = []
    for encoder in encoders:
        for layer in layers or scores.layers(*encoder, over, task):
            cells = (Cell(*encoder, one, task, layer) for one in (recipe, over))
            parts.append(_above(scores, f"{_name(encoder)}, layer {layer}", *cells))
    return Statement.all_of(f"{recipe} over {over}", parts, share)


def inner_above_last(
    scores: Scores,
    encoders: list[Encoder],
    tasks: Sequence[str] = (TASK,),
    recipes: Sequence[str] = (RECIPE,),
    metric: str | None = None,
) -> Statement:
    """The curve of each encoder falls at the end: an inner layer is above the last."""

    def one(encoder: Encoder, task: str, recipe: str) -> Statement:
        inner, last = _last(scores, (*encoder, recipe, task), metric)
        parts = (_above(scores, f"layer {cell.layer} over {last.layer}", cell, last) for cell in inner)
        return Statement.any_of(f"{_name(encoder)}, {task}, {recipe}", parts)

    return Statement.all_of("", (one(*of) for of in product(encoders, tasks, recipes)))


def best_at_last(
    scores: Scores,
    encoders: list[Encoder],
    task: str = TASK,
    recipes: Sequence[str] = (RECIPE,),
    metric: str | None = None,
    margin: float = 0.0,
) -> Statement:
    """The last layer of each encoder is above all others, or at most ``margin`` below."""

    def one(encoder: Encoder, recipe: str) -> Statement:
        inner, last = _last(scores, (*encoder, recipe, task), metric)
        parts = (_above(scores, f"layer {last.layer} over {cell.layer}", last, cell, -margin) for cell in inner)
        return Statement.all_of(f"{_name(encoder)}, {recipe}", parts)

    return Statement.all_of("", (one(*of) for of in product(encoders, recipes)))


def smaller_drop(scores: Scores, encoder: Encoder, recipe: str, over: str = RECIPE, task: str = TASK) -> Statement:
    """From its best layer to its last an encoder loses less under a recipe than under another."""
    what, terms = f"{_name(encoder)}, drop from the best layer to the last, {over} less {recipe}", []
    for sign, one in ((1, over), (-1, recipe)):
        best = scores.best_layer(*encoder, one, task, split="test")
        if best is None:
            return Statement(what)
        _, last = _last(scores, (*encoder, one, task))
        terms += [(sign, last._replace(layer=best)), (-sign, last)]
    return Statement(what, scores.contrast(*terms))


def rise(
    scores: Scores, encoders: list[Encoder], task: str = TASK, recipe: str = RECIPE, share: float = 1.0
) -> Statement:
    """Each layer is above the one before, but for the rest of this share of the steps."""
    parts = []
    for encoder in encoders:
        inner, last = _last(scores, (*encoder, recipe, task))
        for low, up in pairwise([*inner, last]):
            parts.append(_above(scores, f"{_name(encoder)}, layer {up.layer} over {low.layer}", up, low))
        if last is None:
            parts.append(Statement(_name(encoder)))
    return Statement.all_of("", parts, share)


def first_step_largest(
    scores: Scores, encoders: list[Encoder], tasks: Sequence[str] = (TASK,), recipe: str = RECIPE
) -> Statement:
    """The step from layer 0 to 1 is larger than any other, up or down."""

    def one(encoder: Encoder, task: str) -> Statement:
        curve = scores.curve(*encoder, recipe, task)
        parts = []
        for layer in scores.layers(*encoder, recipe, task)[1:-1]:
            up = 1 if curve.loc[layer + 1].mean() > curve.loc[layer].mean() else -1
            weights = {1: 1, 0: -1}
            for at, weight in ((layer + 1, -up), (layer, up)):
                weights[at] = weights.get(at, 0) + weight
            terms = ((weight, Cell(*encoder, recipe, task, at)) for at, weight in weights.items())
            parts.append(Statement(f"0 to 1 over {layer} to {layer + 1}", scores.contrast(*terms)))
        return Statement.all_of(f"{_name(encoder)}, {task}", parts)

    return Statement.all_of("", (one(*of) for of in product(encoders, tasks)))


def level(
    scores: Scores,
    first: str,
    second: str,
    sizes: list[str],
    tasks: Sequence[str] = (TASK,),
    recipe: str = RECIPE,
    margin: float = 1.0,
) -> Statement:
    """The last layer of one role is at most ``margin`` points below that of another, by size and task."""

    def one(size: str, task: str) -> Statement:
        lasts = (_last(scores, (role, size, recipe, task))[1] for role in (first, second))
        return _above(scores, f"{first} over {second}, {size}, {task}, last layers", *lasts, -margin)

    return Statement.all_of("", (one(*of) for of in product(sizes, tasks)))


def front(
    scores: Scores, members: list[Encoder], others: list[Encoder], task: str = TASK, recipe: str = RECIPE
) -> Statement:
    """At its best layer no smaller encoder is as good as a member, and one is better than each of the others."""
    encoders = [tuple(encoder) for encoder in [*members, *others]]
    at = {encoder: _best(scores, (*encoder, recipe, task)) for encoder in encoders}
    sizes = {encoder: scores.parameters(cell) for encoder, cell in at.items()}

    def one(encoder: tuple[str, ...], member: bool) -> Statement:
        name = f"{_name(encoder)} {'on' if member else 'off'} the front"
        if sizes[encoder] is None:
            return Statement(name)
        rest = [other for other in encoders if sizes[other] is None or sizes[other] < sizes[encoder]]
        if not rest:  # the smallest is on the front, whatever its score
            return Statement(name, Estimate(math.inf if member else -math.inf, 0.0, 2))
        if member:
            return Statement.all_of(name, (_above(scores, f"over {_name(one)}", at[encoder], at[one]) for one in rest))
        return Statement.any_of(name, (_above(scores, f"under {_name(one)}", at[one], at[encoder]) for one in rest))

    return Statement.all_of("", (one(encoder, list(encoder) in members) for encoder in encoders))


RULES = {
    rule.__name__: rule
    for rule in (ahead, gain, inner_above_last, best_at_last, smaller_drop, rise, first_step_largest, level, front)
}


def details(claims: Iterable[tuple[int, Statement]]) -> pd.DataFrame:
    """The contrasts of claims: claim, what, difference, half_width (of the 95 % t interval), above, n, found.

    A difference is found to be shown where its interval is above the threshold ``above``, refuted where it is below.
    """
    rows = []
    for claim, statement in claims:
        for what, one, whole in statement.contrasts():
            found = "shown" if whole.p_not < 0.025 else "refuted" if whole.p_holds < 0.025 else "open"
            estimate = one.estimate
            rows.append([claim, what, estimate.mean, estimate.half_width, one.threshold, estimate.n, found])
    return pd.DataFrame(rows, columns=["claim", "what", "difference", "half_width", "above", "n", "found"])


def _arguments(rule: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in rule.items() if key != "rule"}


def _above(scores: Scores, what: str, one: Cell | None, other: Cell | None, threshold: float = 0.0) -> Statement:
    known = one is not None and other is not None
    return Statement(what, scores.contrast((1, one), (-1, other)) if known else None, threshold)


def _last(scores: Scores, key: tuple, metric: str | None = None) -> tuple[list[Cell], Cell | None]:
    """The inner cells of a curve and its last; none of a curve that is not whole."""
    cells = [Cell(*key, layer, metric=metric) for layer in scores.layers(*key, metric=metric)]
    return cells[:-1], cells[-1] if cells else None


def _best(scores: Scores, key: tuple) -> Cell | None:
    """The cell that is best on validation, where that is not known on test."""
    for split in ("validation", "test"):
        if (layer := scores.best_layer(*key, split=split)) is not None:
            return Cell(*key, layer)
    return None


def _with_data(parts: Iterable[Statement]) -> tuple[tuple[Statement, ...], int]:
    """The parts with data, and how many have none, parts of these too."""
    every = list(parts)
    known = tuple(part for part in every if part.known)
    return known, len(every) - len(known) + sum(part.missing for part in known)


def _name(encoder: Encoder) -> str:
    return " ".join(encoder)
