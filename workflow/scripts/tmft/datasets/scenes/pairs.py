"""A synthetic language of scenes: who did what to whom, where, when and with what, in everyday English words.

A scene has many sentences (synonyms, determiners, word orders), and similarity, paraphrase and entailment follow from
the scenes alone, by the rules of ``docs/scenes.md``. Everything is drawn from ``random.Random(text)``, so a seed gives
the same sentences in every process.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, combinations
from random import Random
from typing import Any

import pandas as pd

from tmft.datasets.scenes.lexicon import (
    ANIMATE,
    CONCEPTS,
    DETERMINERS,
    FRAMES,
    TRAITS,
    Concept,
    Noun,
    Verb,
    members,
    of_kind,
)


@dataclass(frozen=True)
class Scene:
    """Concepts of the lexicon in their roles; None where the scene does not say."""

    agent: str
    action: str
    patient: str
    agent_attribute: str | None = None
    agent_count: int = 1
    patient_attribute: str | None = None
    patient_count: int = 1
    place: str | None = None
    time: str | None = None
    instrument: str | None = None
    negated: bool = False


# Similarity: the weight of each slot, the credit for two concepts of one category, the factors of three penalties.
WEIGHTS = {
    "agent": 3.0,
    "action": 3.0,
    "patient": 3.0,
    "agent_attribute": 1.0,
    "agent_count": 2.0,
    "patient_attribute": 1.0,
    "patient_count": 2.0,
    "place": 1.0,
    "time": 1.0,
    "instrument": 1.0,
}
SAME_CATEGORY = 0.5
ROLES_REVERSED = 0.4
ATTRIBUTES_REVERSED = 0.6
NEGATION_DIFFERS = 0.5

ENTAILMENT_CLASSES = ("entails", "neutral", "contradicts")

# Word similarity by the closest thing that two words share.
SAME_CONCEPT_WORDS, SAME_CATEGORY_WORDS, SAME_KIND_WORDS, UNRELATED_WORDS = 10.0, 7.0, 3.0, 0.0


class Wording:
    """Choices among equal words, each drawn once and kept: sentences of one wording differ only where scenes do."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._words: dict[str, Any] = {}
        self._determiners: dict[tuple[str, int], str] = {}

    def word(self, concept: str) -> Any:
        if concept not in self._words:
            self._words[concept] = self._rng.choice(CONCEPTS[concept].words)
        return self._words[concept]

    def noun_phrase(self, concept: str, count: int = 1, attribute: str | None = None) -> str:
        if (concept, count) not in self._determiners:
            self._determiners[concept, count] = self._rng.choice(DETERMINERS[count])
        determiner = self._determiners[concept, count]
        noun: Noun = self.word(concept)
        head = noun.singular if count == 1 else noun.plural
        rest = f"{self.word(attribute)} {head}" if attribute else head
        return f"{'an' if determiner == 'a' and rest[0] in 'aeiou' else determiner} {rest}"

    def relative_clause(self, concept: str, count: int, attribute: str) -> str:
        return f"{self.noun_phrase(concept, count)} that {_was(count)} {self.word(attribute)}"


def forms(scene: Scene) -> tuple[str, ...]:
    """The word orders that fit: fronting needs a place or a time, a relative clause an attribute."""
    fitting: tuple[str, ...] = ("active", "passive", "cleft", "object cleft")
    if scene.place or scene.time:
        fitting += ("fronted", "fronted passive")
    if scene.agent_attribute or scene.patient_attribute:
        fitting += ("relative",)
    return fitting


def render(scene: Scene, form: str, rng: Random) -> str:
    """One sentence of the scene, its words drawn among synonyms.

    Raises ValueError for a form that is not among ``forms(scene)``.
    """
    if form not in forms(scene):
        raise ValueError(f"no form {form!r} of {scene}")
    return _sentence(scene, form, Wording(rng))


def _sentence(scene: Scene, form: str, wording: Wording) -> str:
    agent = wording.noun_phrase(scene.agent, scene.agent_count, scene.agent_attribute)
    patient = wording.noun_phrase(scene.patient, scene.patient_count, scene.patient_attribute)
    verb: Verb = wording.word(scene.action)
    does = f"did not {verb.base}" if scene.negated else verb.past
    is_done = f"{_was(scene.patient_count)} {'not ' if scene.negated else ''}{verb.participle} by"
    details = [wording.word(detail) for detail in (scene.place, scene.time) if detail]
    tool = [f"with {wording.noun_phrase(scene.instrument)}"] if scene.instrument else []

    match form:
        case "active":
            parts = [agent, does, patient, *tool, *details]
        case "passive":
            parts = [patient, is_done, agent, *tool, *details]
        case "cleft":
            parts = ["it was", agent, "that", does, patient, *tool, *details]
        case "object cleft":
            parts = ["it was", patient, "that", agent, does, *tool, *details]
        case "fronted":
            parts = [details[0], agent, does, patient, *tool, *details[1:]]
        case "fronted passive":
            parts = [details[0], patient, is_done, agent, *tool, *details[1:]]
        case "relative" if scene.agent_attribute:
            subject = wording.relative_clause(scene.agent, scene.agent_count, scene.agent_attribute)
            parts = [subject, does, patient, *tool, *details]
        case "relative":
            subject = wording.relative_clause(scene.patient, scene.patient_count, scene.patient_attribute)
            parts = [subject, is_done, agent, *tool, *details]
    return " ".join(parts)


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def similarity(a: Scene, b: Scene) -> float:
    """Gold score from 0 (nothing in common) to 5 (the same scene, and only then): weighted slots, then penalties."""
    total = credit = 0.0
    for slot, weight in WEIGHTS.items():
        one, other = getattr(a, slot), getattr(b, slot)
        if one in (None, 1) and other in (None, 1):
            continue
        total += weight
        credit += weight * _match(one, other)
    score = 5 * credit / total
    if _crossed(a.agent, a.patient, b.agent, b.patient):
        score *= ROLES_REVERSED
    elif _crossed(a.agent_attribute, a.patient_attribute, b.agent_attribute, b.patient_attribute):
        score *= ATTRIBUTES_REVERSED
    if a.negated != b.negated:
        score *= NEGATION_DIFFERS
    return round(score, 2)


def _match(one: str | int | None, other: str | int | None) -> float:
    if one == other:
        return 1.0
    if one in CONCEPTS and other in CONCEPTS and CONCEPTS[one].category == CONCEPTS[other].category:
        return SAME_CATEGORY
    return 0.0


def _crossed(a_agent: str | None, a_patient: str | None, b_agent: str | None, b_patient: str | None) -> bool:
    """Whether exchanging agent and patient of one scene would make the two match better."""
    named = [(one, other) for one, other in ((a_agent, b_patient), (a_patient, b_agent)) if one and other]
    return sum(_match(*pair) for pair in named) > _match(a_agent, b_agent) + _match(a_patient, b_patient)


# Odds in drawing a scene: of an animate patient, of usual roles and places over possible ones, of each optional part.
ANIMATE_PATIENT = 0.55
USUAL_ROLES, USUAL_PLACE = 0.75, 0.8
ATTRIBUTE, PLURAL, PLACE, TIME, INSTRUMENT, NEGATED = 0.4, 0.2, 0.5, 0.3, 0.4, 0.15


@cache
def _taste(context: str, options: tuple[str, ...]) -> list[float]:
    """Cumulative weights of the options beside ``context``: fixed, and heavy-tailed as word counts are."""
    return list(accumulate(math.exp(Random(f"{context} / {option}").gauss(0, 0.8)) for option in options))


def _prefer(rng: Random, context: str, options: tuple[str, ...]) -> str:
    return rng.choices(options, cum_weights=_taste(context, options))[0]


_PLACES, _TIMES = of_kind("place"), of_kind("time")
_TRAITS = {kind: tuple(name for trait in traits.split() for name in members(trait)) for kind, traits in TRAITS.items()}
_ACTIONS = {
    animate: tuple(
        action
        for action in of_kind("action")
        if any(CONCEPTS[patient].kind in ANIMATE for patient in FRAMES[CONCEPTS[action].category].patients) == animate
    )
    for animate in (True, False)
}


def draw_scene(rng: Random) -> Scene:
    """A scene with the language's habits: who usually does what to whom, where, when and with what."""
    action = rng.choice(_ACTIONS[rng.random() < ANIMATE_PATIENT])
    frame = FRAMES[CONCEPTS[action].category]
    agent = patient = ""
    while agent == patient:
        agents, patients = frame.agents, frame.patients
        if rng.random() < USUAL_ROLES:
            agents, patients = map(members, rng.choice(frame.roles))
        agent = _prefer(rng, f"{action} agent", agents)
        patient = _prefer(rng, f"{action} patient", patients)
    places = frame.places if rng.random() < USUAL_PLACE else _PLACES
    instruments = _instruments(action, agent)
    return Scene(
        agent=agent,
        action=action,
        patient=patient,
        agent_attribute=_draw_attribute(rng, agent),
        agent_count=_draw_count(rng),
        patient_attribute=_draw_attribute(rng, patient),
        patient_count=_draw_count(rng),
        place=_prefer(rng, agent, places) if rng.random() < PLACE else None,
        time=_prefer(rng, action, _TIMES) if rng.random() < TIME else None,
        instrument=_prefer(rng, action, instruments) if instruments and rng.random() < INSTRUMENT else None,
        negated=rng.random() < NEGATED,
    )


def _draw_attribute(rng: Random, noun: str) -> str | None:
    return _prefer(rng, noun, _TRAITS[CONCEPTS[noun].kind]) if rng.random() < ATTRIBUTE else None


def _draw_count(rng: Random) -> int:
    return rng.choice(tuple(DETERMINERS)[1:]) if rng.random() < PLURAL else 1


def _instruments(action: str, agent: str) -> tuple[str, ...]:
    return FRAMES[CONCEPTS[action].category].instruments if CONCEPTS[agent].kind == "person" else ()


def _is_possible(scene: Scene) -> bool:
    frame = FRAMES[CONCEPTS[scene.action].category]
    return (
        scene.agent != scene.patient
        and scene.agent in frame.agents
        and scene.patient in frame.patients
        and scene.agent_attribute in (None, *_TRAITS[CONCEPTS[scene.agent].kind])
        and scene.patient_attribute in (None, *_TRAITS[CONCEPTS[scene.patient].kind])
        and scene.instrument in (None, *_instruments(scene.action, scene.agent))
    )


# A change makes another scene of one; it may come out as the same scene or an impossible one.
Change = Callable[[Scene, Random], Scene]


def swap_roles(scene: Scene, rng: Random) -> Scene:
    """The patient, as it is, does it to the agent, as it is."""
    return replace(
        scene,
        agent=scene.patient,
        agent_attribute=scene.patient_attribute,
        agent_count=scene.patient_count,
        patient=scene.agent,
        patient_attribute=scene.agent_attribute,
        patient_count=scene.agent_count,
    )


def swap_attributes(scene: Scene, rng: Random) -> Scene:
    return replace(scene, agent_attribute=scene.patient_attribute, patient_attribute=scene.agent_attribute)


def negate(scene: Scene, rng: Random) -> Scene:
    return replace(scene, negated=not scene.negated)


def change_count(scene: Scene, rng: Random) -> Scene:
    slot = rng.choice(("agent_count", "patient_count"))
    return replace(scene, **{slot: rng.choice(tuple(DETERMINERS))})


_SLOT_KINDS = {
    "agent": ANIMATE,
    "action": ("action",),
    "patient": ("person", "animal", "food", "thing"),
    "agent_attribute": ("attribute",),
    "patient_attribute": ("attribute",),
    "place": ("place",),
    "time": ("time",),
    "instrument": ("thing",),
}


def substitute(scene: Scene, rng: Random) -> Scene:
    """Another concept in one slot, of the same category as often as any at all."""
    while True:
        slot = rng.choice([slot for slot in _SLOT_KINDS if getattr(scene, slot)])
        mates, others = members(_category(scene, slot)), of_kind(*_SLOT_KINDS[slot])
        substituted = replace(scene, **{slot: rng.choice(rng.choice((mates, others)))})
        if substituted != scene and _is_possible(substituted):
            return substituted


def substitute_several(scene: Scene, rng: Random) -> Scene:
    for _ in range(rng.randint(1, 12)):
        scene = substitute(scene, rng)
    return scene


def keep(scene: Scene, rng: Random) -> Scene:
    return scene


def redraw(scene: Scene, rng: Random) -> Scene:
    return draw_scene(rng)


def _draw_pair(rng: Random, shares: dict[Change, float]) -> tuple[Scene, Scene]:
    """A scene and what one of the changes, drawn by its share, makes of it."""
    (change,) = rng.choices(list(shares), list(shares.values()))
    while True:
        scene = draw_scene(rng)
        changed = change(scene, rng)
        if (changed == scene) == (change is keep) and _is_possible(changed):
            return scene, changed


# Odds that both sentences of a pair use the same word for each concept, and that a view hides a detail (entailment).
SHARED_WORDING = 0.7
HIDDEN = 0.4

# What makes the second scene of a pair, and how often.
STS_SHARES: dict[Change, float] = {
    keep: 0.16,
    swap_roles: 0.22,
    swap_attributes: 0.10,
    negate: 0.04,
    change_count: 0.04,
    substitute_several: 0.28,
    redraw: 0.16,
}
PARAPHRASE_SHARES: dict[Change, float] = {
    keep: 0.66,
    swap_roles: 0.12,
    swap_attributes: 0.06,
    negate: 0.04,
    change_count: 0.04,
    substitute: 0.08,
}
WORD_SHARES = {SAME_CONCEPT_WORDS: 0.2, SAME_CATEGORY_WORDS: 0.35, SAME_KIND_WORDS: 0.2, UNRELATED_WORDS: 0.25}
COLUMNS = ("pair_id", "split", "sentence1", "sentence2", "label")


def _sentences(rng: Random, one: Scene, other: Scene) -> tuple[str, str]:
    wording = Wording(rng)
    other_wording = wording if rng.random() < SHARED_WORDING else Wording(rng)
    return (
        _sentence(one, rng.choice(forms(one)), wording),
        _sentence(other, rng.choice(forms(other)), other_wording),
    )


def _new(draw: Callable[[], tuple[str, str, float]]) -> Iterator[tuple[str, str, float]]:
    """Pairs as ``draw`` gives them, but each sentence only once."""
    seen: set[str] = set()
    while True:
        one, other, label = draw()
        if one != other and not seen & {one, other}:
            seen |= {one, other}
            yield one, other, label


def _table(sizes: tuple[int, int, int], pairs: Iterator[tuple[str, str, float]]) -> pd.DataFrame:
    rows = [
        (f"{split}-{number}", split, *next(pairs))
        for split, size in zip(("train", "validation", "test"), sizes, strict=True)
        for number in range(size)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def sts_pairs(train: int, validation: int, test: int, seed: int) -> pd.DataFrame:
    """Sentence pairs with their scenes' ``similarity`` (0-5) as label.

    Returns columns pair_id, split, sentence1, sentence2, label; no sentence is in two pairs, hence none in two splits.
    """
    rng = Random(f"similarity {seed}")

    def draw() -> tuple[str, str, float]:
        one, other = _draw_pair(rng, STS_SHARES)
        return *_sentences(rng, one, other), similarity(one, other)

    return _table((train, validation, test), _new(draw))


def paraphrase_pairs(train: int, validation: int, test: int, seed: int) -> pd.DataFrame:
    """As ``sts_pairs``, with label 1.0 for two sentences of one scene and 0.0 for sentences of two near scenes."""
    rng = Random(f"paraphrase {seed}")

    def draw() -> tuple[str, str, float]:
        one, other = _draw_pair(rng, PARAPHRASE_SHARES)
        return *_sentences(rng, one, other), float(one == other)

    return _table((train, validation, test), _new(draw))


def entailment_pairs(train: int, validation: int, test: int, seed: int) -> pd.DataFrame:
    """As ``sts_pairs``, sentence1 the premise and sentence2 the hypothesis, with labels into ``ENTAILMENT_CLASSES``."""
    rng = Random(f"entailment {seed}")

    def draw() -> tuple[str, str, float]:
        label = rng.randrange(len(ENTAILMENT_CLASSES))
        return *_sentences(rng, *_draw_entailment(rng, ENTAILMENT_CLASSES[label])), float(label)

    return _table((train, validation, test), _new(draw))


def _draw_entailment(rng: Random, wanted: str) -> tuple[Scene, Scene]:
    """Premise and hypothesis: two views of one scene, each leaving out details of its own.

    A view follows from another that leaves out no more; under negation, from another that leaves out no less.
    """
    while True:
        scene = draw_scene(rng)
        premise_hides, hypothesis_hides = _some_details(scene, rng), _some_details(scene, rng)
        premise, hypothesis = _without(scene, premise_hides), _without(scene, hypothesis_hides)
        follows = hypothesis_hides <= premise_hides if scene.negated else premise_hides <= hypothesis_hides
        if follows != (wanted != "neutral"):
            continue
        if wanted == "contradicts":
            change = negate if scene.negated else rng.choice((negate, change_count, swap_roles))
            changed = change(hypothesis, rng)
            if changed == hypothesis:
                continue
            hypothesis = changed
        if _is_possible(premise) and _is_possible(hypothesis):
            return premise, hypothesis


_OPTIONAL = ("agent_attribute", "patient_attribute", "place", "time", "instrument")


def _some_details(scene: Scene, rng: Random) -> set[str]:
    details = [slot for slot in _OPTIONAL if getattr(scene, slot)]
    details += [slot for slot in ("agent", "patient") if getattr(scene, slot) != _category(scene, slot)]
    return {slot for slot in details if rng.random() < HIDDEN}


def _without(scene: Scene, details: set[str]) -> Scene:
    """The scene without these details; of agent and patient, the category stays."""
    return replace(scene, **{slot: None if slot in _OPTIONAL else _category(scene, slot) for slot in details})


def _category(scene: Scene, slot: str) -> str:
    return CONCEPTS[getattr(scene, slot)].category


def word_pairs(train: int, validation: int, test: int, seed: int) -> pd.DataFrame:
    """As ``sts_pairs`` with single words for sentences, label 0-10; no unordered pair of words is repeated."""
    concepts = {
        word.singular if isinstance(word, Noun) else word.past if isinstance(word, Verb) else word: concept
        for concept in CONCEPTS.values()
        if concept.kind not in ("place", "time")
        for word in concept.words
    }
    by_label: dict[float, list[tuple[str, str]]] = {label: [] for label in WORD_SHARES}
    for one, other in combinations((word for word in concepts if " " not in word), 2):
        by_label[word_similarity(concepts[one], concepts[other])].append((one, other))

    rng = Random(f"words {seed}")
    size = train + validation + test
    rows = []
    for label, pairs in by_label.items():
        count = size - len(rows) if label == UNRELATED_WORDS else min(len(pairs), round(size * WORD_SHARES[label]))
        rows += [(*rng.sample(pair, 2), label) for pair in rng.sample(pairs, count)]
    rng.shuffle(rows)
    return _table((train, validation, test), iter(rows))


PAIRS = {"sts": sts_pairs, "paraphrase": paraphrase_pairs, "entailment": entailment_pairs, "words": word_pairs}


def word_similarity(one: Concept, other: Concept) -> float:
    """Gold score of two words from 0 to 10, by what their concepts share."""
    if one == other:
        return SAME_CONCEPT_WORDS
    if one.category == other.category:
        return SAME_CATEGORY_WORDS
    return SAME_KIND_WORDS if one.kind == other.kind else UNRELATED_WORDS


PAIRS = {"sts": sts_pairs, "paraphrase": paraphrase_pairs, "entailment": entailment_pairs, "words": word_pairs}


def corpus(sentences: int, seed: int, exclude: set[str]) -> list[str]:
    """Distinct unlabelled sentences for pre-training, none of ``exclude``, in the order drawn."""
    rng = Random(f"corpus {seed}")
    drawn: dict[str, None] = {}
    while len(drawn) < sentences:
        scene = draw_scene(rng)
        sentence = render(scene, rng.choice(forms(scene)), rng)
        if sentence not in exclude:
            drawn[sentence] = None
    return list(drawn)
