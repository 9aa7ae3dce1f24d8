"""The language of scenes, checked from outside by a reader that turns a sentence back into its scene."""

import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import fields, replace
from functools import cache
from itertools import combinations
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.stats import spearmanr

from tmft.datasets.scenes import pairs as scenes
from tmft.datasets.scenes.lexicon import CONCEPTS, DETERMINERS, Noun, Verb
from tmft.datasets.scenes.pairs import (
    ENTAILMENT_CLASSES,
    Scene,
    corpus,
    draw_scene,
    entailment_pairs,
    forms,
    paraphrase_pairs,
    render,
    similarity,
    sts_pairs,
    word_pairs,
)

TABLES = {
    sts_pairs: (0.0, 5.0),
    paraphrase_pairs: (0.0, 1.0),
    entailment_pairs: (0.0, 2.0),
    word_pairs: (0.0, 10.0),
}
NOUNS = [(word, name) for name, concept in CONCEPTS.items() for word in concept.words if isinstance(word, Noun)]
VERBS = [(word, name) for name, concept in CONCEPTS.items() for word in concept.words if isinstance(word, Verb)]
PHRASES = {
    kind: {word: name for name, concept in CONCEPTS.items() if concept.kind == kind for word in concept.words}
    for kind in ("attribute", "place", "time")
}
QUANTITIES = {word: count for count, words in DETERMINERS.items() for word in words} | {"an": 1}
ACTIONS = {form: name for verb, name in VERBS for form in (verb.base, verb.past, verb.participle)}
SWAP = {"agent": "patient", "patient": "agent"}


def any_of(words) -> str:
    return "(?:" + "|".join(sorted(words, key=len, reverse=True)) + ")"


def grammar() -> list[re.Pattern]:
    """One pattern a word order, written from ``docs/scenes.md``."""
    nouns = any_of({form for noun, _ in NOUNS for form in (noun.singular, noun.plural)})
    attributes = any_of(PHRASES["attribute"])
    thing = f"{any_of(QUANTITIES)} (?:{attributes} )?{nouns}"
    agent, patient = f"(?P<agent>{thing})", f"(?P<patient>{thing})"
    past = any_of(verb.past for verb, _ in VERBS)
    base = any_of(verb.base for verb, _ in VERBS)
    participle = any_of(verb.participle for verb, _ in VERBS)
    does = f"(?:(?P<past>{past})|did (?P<not>not) (?P<base>{base}))"
    is_done = f"(?P<was>was|were) (?P<not>not )?(?P<participle>{participle}) by"
    place, time = f"(?P<place>{any_of(PHRASES['place'])})", f"(?P<time>{any_of(PHRASES['time'])})"
    tool = f"(?: with (?P<instrument>{thing}))?"
    tail = f"{tool}(?: {place})?(?: {time})?"
    quality = f"that (?P<be>was|were) (?P<quality>{attributes})"
    patterns = [f"{agent} {does} {patient}{tail}", f"{patient} {is_done} {agent}{tail}"]
    patterns += [f"it was {agent} that {does} {patient}{tail}", f"it was {patient} that {agent} {does}{tail}"]
    for clause in patterns[:2]:
        rest = clause.removesuffix(tail)
        patterns += [f"{place} {rest}{tool}(?: {time})?", f"{time} {rest}{tool}"]
    patterns += [f"{agent} {quality} {does} {patient}{tail}", f"{patient} {quality} {is_done} {agent}{tail}"]
    return [re.compile(pattern) for pattern in patterns]


GRAMMAR = grammar()


def read_noun_phrase(text: str) -> tuple[str, int, str | None]:
    determiner = max((word for word in QUANTITIES if text.startswith(f"{word} ")), key=len)
    count, rest = QUANTITIES[determiner], text.removeprefix(f"{determiner} ")
    if determiner in ("a", "an"):
        assert (determiner == "an") == (rest[0] in "aeiou"), text
    (concept,) = {
        name
        for noun, name in NOUNS
        for form in [noun.singular if count == 1 else noun.plural]
        if rest == form or (rest.endswith(f" {form}") and rest.removesuffix(f" {form}") in PHRASES["attribute"])
    }
    attribute = [name for word, name in PHRASES["attribute"].items() if rest.startswith(f"{word} ")]
    return concept, count, attribute[0] if attribute else None


@cache
def read(sentence: str) -> Scene:
    """The one scene that the sentence tells; fails if it is not in the grammar or has two readings."""
    (match,) = [match for pattern in GRAMMAR if (match := pattern.fullmatch(sentence))]
    found = match.groupdict()
    slots = {}
    for role in ("agent", "patient"):
        slots[role], slots[f"{role}_count"], slots[f"{role}_attribute"] = read_noun_phrase(found[role])
    if found.get("quality"):
        subject = "agent" if match.start("agent") < match.start("patient") else "patient"
        assert slots[f"{subject}_attribute"] is None
        slots[f"{subject}_attribute"] = PHRASES["attribute"][found["quality"]]
        assert (found["be"] == "was") == (slots[f"{subject}_count"] == 1)
    if found.get("was"):
        assert (found["was"] == "was") == (slots["patient_count"] == 1)
    return Scene(
        action=ACTIONS[found.get("past") or found.get("base") or found["participle"]],
        place=PHRASES["place"].get(found.get("place")),
        time=PHRASES["time"].get(found.get("time")),
        instrument=read_noun_phrase(found["instrument"])[0] if found["instrument"] else None,
        negated=bool(found["not"]),
        **slots,
    )


def swapped(scene: Scene) -> Scene:
    exchange = {
        field.name: field.name.replace(role, SWAP[role])
        for field in fields(Scene)
        if (role := field.name.split("_")[0]) in SWAP
    }
    return replace(scene, **{slot: getattr(scene, source) for slot, source in exchange.items()})


def tellings(seed: int) -> tuple[Scene, dict[str, str]]:
    rng = Random(seed)
    scene = draw_scene(rng)
    return scene, {form: render(scene, form, rng) for form in forms(scene)}


seeds = st.integers(0, 10**9)


@settings(deadline=None, max_examples=150)
@given(seeds)
def test_every_form_of_a_scene_reads_back_as_that_scene(seed):
    scene, sentences = tellings(seed)
    assert {read(sentence) for sentence in sentences.values()} == {scene}
    assert len(set(sentences.values())) == len(sentences)
    assert all(similarity(read(one), read(other)) == 5 for one, other in combinations(sentences.values(), 2))


def test_forms_are_what_they_say_and_unfit_ones_are_refused():
    scene = Scene("dog", "chase", "wolf", patient_count=2, patient_attribute="old", place="in the garden", negated=True)

    class First(Random):
        def choice(self, options):
            return options[0]

    assert {form: render(scene, form, First()) for form in forms(scene)} == {
        "active": "a dog did not chase two old wolves in the garden",
        "passive": "two old wolves were not chased by a dog in the garden",
        "cleft": "it was a dog that did not chase two old wolves in the garden",
        "object cleft": "it was two old wolves that a dog did not chase in the garden",
        "fronted": "in the garden a dog did not chase two old wolves",
        "fronted passive": "in the garden two old wolves were not chased by a dog",
        "relative": "two wolves that were old were not chased by a dog in the garden",
    }
    with pytest.raises(ValueError, match="fronted"):
        render(replace(scene, place=None), "fronted", Random(0))


@settings(deadline=None, max_examples=150)
@given(seeds, seeds)
def test_similarity_is_symmetric_in_range_and_five_only_for_the_same_scene(seed, other_seed):
    one, other = draw_scene(Random(seed)), draw_scene(Random(other_seed))
    assert similarity(one, other) == similarity(other, one)
    assert 0 <= similarity(one, other) <= 5
    assert (similarity(one, other) == 5) == (one == other)


@settings(deadline=None, max_examples=150)
@given(seeds)
def test_similarity_falls_with_each_difference(seed):
    scene = draw_scene(Random(seed))
    assert similarity(scene, swapped(scene)) <= 2
    assert similarity(scene, replace(scene, negated=not scene.negated)) == 2.5
    assert similarity(scene, replace(scene, agent_count=scene.agent_count + 1)) < 4.7
    bare = replace(scene, agent_attribute=None, patient_attribute=None, place=None)
    told = replace(bare, agent_attribute="old", patient_attribute="big", place="in the shop")
    exchanged = replace(told, agent_attribute="big", patient_attribute="old")
    unlike = replace(told, agent_attribute="happy", patient_attribute="new")
    assert similarity(told, exchanged) < similarity(told, unlike)
    mate, other = replace(told, place="in the bakery"), replace(told, place="on the hill")
    assert 5 > similarity(told, mate) > similarity(told, other) > 2.5
    assert similarity(told, other) > similarity(
        told, replace(other, time="at noon" if told.time != "at noon" else None)
    )


@pytest.fixture(scope="module")
def tables() -> dict:
    return {make: make(1200, 300, 500, seed=3) for make in TABLES}


@pytest.mark.parametrize("make", TABLES)
def test_tables_have_their_rows_and_splits_share_nothing(tables, make):
    table = tables[make]
    assert list(table.columns) == ["pair_id", "split", "sentence1", "sentence2", "label"]
    assert table.groupby("split").size().to_dict() == {"train": 1200, "validation": 300, "test": 500}
    assert table.pair_id.is_unique
    assert table.label.dtype == float
    lowest, highest = TABLES[make]
    assert (table.label.min(), table.label.max()) == (lowest, highest)
    if make is word_pairs:
        assert len({frozenset(pair) for pair in zip(table.sentence1, table.sentence2, strict=True)}) == len(table)
        assert (table.sentence1 != table.sentence2).all()
    else:
        assert pd.concat([table.sentence1, table.sentence2]).is_unique


def scene_pairs(table):
    return [(read(one), read(other)) for one, other in zip(table.sentence1, table.sentence2, strict=True)]


def words_of(*sentences: str) -> list[Counter]:
    return [Counter(sentence.split()) for sentence in sentences]


def test_sts_labels_follow_from_the_sentences_and_spread(tables):
    table = tables[sts_pairs]
    pairs = scene_pairs(table)
    assert table.label.tolist() == [similarity(one, other) for one, other in pairs]
    assert (np.histogram(table.label, bins=5, range=(0, 5))[0] > len(table) * 0.04).all()
    swaps = [swapped(one) == other for one, other in pairs]
    assert 0.18 < np.mean(swaps) < 0.26
    assert 0.07 < np.mean([exchanged_attributes(one) == other != one for one, other in pairs]) < 0.13
    one, other = zip(*(words_of(*row) for row in table[["sentence1", "sentence2"]][swaps].values), strict=True)
    assert np.mean([a == b for a, b in zip(one, other, strict=True)]) > 0.1


def exchanged_attributes(scene: Scene) -> Scene:
    return replace(scene, agent_attribute=scene.patient_attribute, patient_attribute=scene.agent_attribute)


def test_a_bag_of_words_helps_but_does_not_solve_sts(tables):
    table = tables[sts_pairs]
    bags = [words_of(*row) for row in table[["sentence1", "sentence2"]].values]
    overlap = [(one & other).total() / (one | other).total() for one, other in bags]
    assert 0.2 < spearmanr(overlap, table.label).statistic < 0.5


def test_paraphrases_are_two_sentences_of_one_scene(tables):
    table = tables[paraphrase_pairs]
    pairs = scene_pairs(table)
    assert table.label.tolist() == [float(one == other) for one, other in pairs]
    assert 0.6 < table.label.mean() < 0.73
    assert min(similarity(one, other) for one, other in pairs) > 0.25


def follows(premise: Scene, hypothesis: Scene) -> bool:
    """Whether the hypothesis says nothing that the premise does not, both affirmative."""
    named = {slot: (getattr(premise, slot), getattr(hypothesis, slot)) for slot in scenes.WEIGHTS}
    return all(
        said in (None, known) or (slot in SWAP and said == CONCEPTS[known].category)
        for slot, (known, said) in named.items()
    )


def entailment(premise: Scene, hypothesis: Scene) -> str:
    """The rule of ``docs/scenes.md``, on scenes read back from sentences."""
    if premise.negated != hypothesis.negated:
        denied, asserted = sorted((premise, hypothesis), key=lambda scene: not scene.negated)
        return "contradicts" if follows(asserted, denied) else "neutral"
    if premise.negated:
        return "entails" if follows(hypothesis, premise) else "neutral"
    if follows(premise, hypothesis):
        return "entails"
    recounted = replace(hypothesis, agent_count=premise.agent_count, patient_count=premise.patient_count)
    undone = (recounted, swapped(hypothesis))
    return "contradicts" if any(follows(premise, scene) for scene in undone) else "neutral"


def test_entailment_follows_from_the_sentences(tables):
    table = tables[entailment_pairs]
    expected = [ENTAILMENT_CLASSES[int(label)] for label in table.label]
    assert expected == [entailment(*pair) for pair in scene_pairs(table)]
    assert min(Counter(expected).values()) > len(table) * 0.28


def test_words_score_by_what_their_concepts_share(tables):
    concepts = {noun.singular: name for noun, name in NOUNS}
    concepts |= {verb.past: name for verb, name in VERBS} | PHRASES["attribute"]
    for row in tables[word_pairs].itertuples():
        one, other = (CONCEPTS[concepts[word]] for word in (row.sentence1, row.sentence2))
        shared = [one.name == other.name, one.category == other.category, one.kind == other.kind, True]
        assert row.label == (10, 7, 3, 0)[shared.index(True)]
    assert set(tables[word_pairs].label) == {0, 3, 7, 10}


EVERYTHING = """
import hashlib
from tmft.datasets.scenes.pairs import *
makers = (sts_pairs, paraphrase_pairs, entailment_pairs, word_pairs)
tables = [make(40, 10, 10, seed={seed}).to_csv() for make in makers]
print(hashlib.sha256("".join(tables + corpus(200, {seed}, set())).encode()).hexdigest())
"""


def digest(seed: int, hash_seed: str) -> str:
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", EVERYTHING.format(seed=seed)]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def test_a_seed_gives_the_same_sentences_in_every_process():
    assert digest(7, "1") == digest(7, "2")


@pytest.mark.parametrize("make", TABLES)
def test_another_seed_gives_other_pairs(make):
    one, other = make(50, 0, 0, seed=1), make(50, 0, 0, seed=2)
    assert not one.equals(other)
    assert one.equals(make(50, 0, 0, seed=1))


@pytest.fixture(scope="module")
def sentences() -> list[str]:
    return corpus(60_000, 0, set())


def word_forms() -> set[str]:
    forms_of = {
        Noun: lambda noun: (noun.singular, noun.plural),
        Verb: lambda verb: (verb.base, verb.past, verb.participle),
        str: lambda phrase: (phrase,),
    }
    texts = [form for concept in CONCEPTS.values() for word in concept.words for form in forms_of[type(word)](word)]
    return {word for text in [*texts, *QUANTITIES, "it was were that did not by with"] for word in text.split()}


def test_the_corpus_reaches_the_whole_vocabulary_and_no_more(sentences):
    vocabulary = word_forms()
    assert 500 <= len(vocabulary) <= 900
    assert {word for sentence in sentences for word in sentence.split()} == vocabulary
    assert 9 < np.mean([len(sentence.split()) for sentence in sentences]) < 12


def test_the_corpus_is_distinct_and_leaves_out_the_excluded(sentences):
    assert len(set(sentences)) == len(sentences) == 60_000
    excluded = set(sentences[:3000:2])
    without = corpus(3000, 0, excluded)
    assert len(set(without)) == 3000
    assert not excluded & set(without)


def test_synonyms_keep_closer_company_than_category_mates_and_these_than_others(sentences, tables):
    words = sorted(word_forms())
    index = {word: number for number, word in enumerate(words)}
    texts = [sorted({index[word] for word in sentence.split()}) for sentence in sentences]
    starts = np.cumsum([0, *map(len, texts)])
    occurrence = csr_matrix((np.ones(starts[-1]), np.concatenate(texts), starts), shape=(len(texts), len(words)))
    company = (occurrence.T @ occurrence).toarray()
    np.fill_diagonal(company, 0)
    surprise = np.log1p(company * company.sum() / np.outer(company.sum(0), company.sum(1)))
    surprise /= np.linalg.norm(surprise, axis=1, keepdims=True)
    table = tables[word_pairs]
    table = table.assign(
        cosine=[
            surprise[index[one]] @ surprise[index[other]]
            for one, other in zip(table.sentence1, table.sentence2, strict=True)
        ]
    )
    means = table.groupby("label").cosine.mean()
    assert means[10] > means[7] + 0.05 and means[7] > means[3] + 0.1


IRREGULAR_PLURALS = {
    "child": "children",
    "deer": "deer",
    "goose": "geese",
    "knife": "knives",
    "mouse": "mice",
    "piece of equipment": "pieces of equipment",
    "piece of furniture": "pieces of furniture",
    "potato": "potatoes",
    "scarf": "scarves",
    "sheep": "sheep",
    "thief": "thieves",
    "tomato": "tomatoes",
    "wolf": "wolves",
}
IRREGULAR_VERBS = """
build built built, buy bought bought, catch caught caught, cut cut cut, drive drove driven, eat ate eaten,
feed fed fed, find found found, grow grew grown, hide hid hidden, hit hit hit, overtake overtook overtaken,
read read read, sell sold sold, sew sewed sewn, steal stole stolen, strike struck struck, wear wore worn,
write wrote written
"""
DOUBLED = {"chop", "drag", "drop", "grab", "hug", "scrub", "spot", "stop", "trim"}


def test_plurals_are_english():
    for noun, _ in NOUNS:
        one = noun.singular
        if one.endswith("man"):
            expected = re.sub("man$", "men", one)
        elif re.search("(s|x|ch|sh)$", one):
            expected = f"{one}es"
        else:
            expected = re.sub("([^aeiou])ys$", r"\1ies", f"{one}s")
        assert noun.plural == IRREGULAR_PLURALS.get(one, expected)


def test_past_tenses_and_participles_are_english():
    irregular = {base: (past, participle) for base, past, participle in map(str.split, IRREGULAR_VERBS.split(","))}
    for verb, _ in VERBS:
        stem = verb.base + verb.base[-1] if verb.base in DOUBLED else re.sub("([^aeiou])y$", r"\1i", verb.base)
        regular = f"{stem.removesuffix('e')}ed"
        assert (verb.past, verb.participle) == irregular.get(verb.base, (regular, regular))


def test_first_letters_decide_between_a_and_an():
    sounds_otherwise = re.compile("hour|honest|honou?r|heir|one|once|use|usual|uni(?!nt)|eu|ut")
    assert not [word for word in word_forms() if sounds_otherwise.match(word)]


def test_each_word_has_one_meaning():
    words = Counter(
        form
        for concept in CONCEPTS.values()
        for word in concept.words
        for form in ({word} if isinstance(word, str) else set(vars(word).values()))
    )
    assert set(words.values()) == {1}
