"""Machine translation against a local stand-in for DeepL: nothing lost, nothing paid twice, no key left behind."""

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
import yaml
from deepl.http_client import _BackoffTimer
from deepl_stand_in import StandIn, serving
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline_runs import snakemake

from tmft.datasets.delimited import read_delimited
from tmft.datasets.pairs import DTYPES, read_pairs
from tmft.runtime.errors import InputError
from tmft.translation.cache import Direction, TranslationCache
from tmft.translation.key import auth_key
from tmft.translation.translate import BATCH_BYTES, batches, encoded_bytes, estimate, translate, translate_pairs

KEY = "SECRET123:fx"
GERMAN = Direction("EN", "DE", None)
PLENTY = 10**9


def mirrored(text: str, target: str) -> str:
    """What the stand-in makes of a text."""
    return f"{target}:{text[::-1]}"


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """A stand-in that the client finds, and a client that does not wait long before it tries again."""
    with serving(StandIn(mirrored)) as served:
        monkeypatch.setenv("DEEPL_SERVER_URL", served.url)
        monkeypatch.setenv("DEEPL_AUTH_KEY", KEY)
        monkeypatch.setattr(_BackoffTimer, "BACKOFF_INITIAL", 0.01)
        yield served


@pytest.fixture
def cache(tmp_path: Path) -> TranslationCache:
    return TranslationCache(tmp_path / "data" / "translations.sqlite")


def lines(number: int) -> list[str]:
    """Distinct sentences of different lengths."""
    return [f"sentence {'x' * line}{line}" for line in range(number)]


def pairs(*rows: tuple[str, str, str, float]) -> pd.DataFrame:
    """A table of (split, sentence1, sentence2, label) rows with ids p0, p1, ..."""
    return pd.DataFrame([(f"p{row}", *values) for row, values in enumerate(rows)], columns=list(DTYPES)).astype(DTYPES)


def refusal(*arguments: object, **named: object) -> str:
    """The one line with which ``translate`` refuses."""
    with pytest.raises(InputError) as failure:
        translate(*arguments, **named)
    message = str(failure.value)
    assert "\n" not in message and KEY not in message
    return message


# --- batches


@settings(deadline=None)
@given(
    st.lists(
        st.builds(
            lambda part, times: part * times,
            st.text(st.characters(codec="utf-8"), min_size=1, max_size=8),
            st.sampled_from([1, 1, 1, 200, 900, 2500]),
        ),
        max_size=120,
    )
)
def test_batches_keep_to_the_limits_and_lose_nothing(texts):
    split = list(batches(texts))
    assert [text for batch in split for text in batch] == texts
    for batch in split:
        assert 1 <= len(batch) <= 50
        body = {"target_lang": "PT-BR", "source_lang": "EN", "formality": "prefer_more", "text": batch}
        if len(batch) > 1 or encoded_bytes(batch[0]) <= BATCH_BYTES:
            assert len(json.dumps(body | {"show_billed_characters": True})) < 128 * 1024
    for one, other in itertools.pairwise(split):
        assert len(one) == 50 or sum(map(encoded_bytes, [*one, other[0]])) > BATCH_BYTES


def test_short_texts_go_fifty_at_a_time(stand_in, cache):
    assert translate(lines(120), GERMAN, cache, PLENTY) == 120
    assert [len(body["text"]) for body in stand_in.requests] == [50, 50, 20]


def test_bodies_stay_below_the_limit_when_escapes_are_long(stand_in, cache):
    texts = [chr(ord("\u4e00") + line) * 4000 for line in range(12)]
    translate(texts, GERMAN, cache, PLENTY)
    assert max(stand_in.sizes) < 128 * 1024
    assert [text for body in stand_in.requests for text in body["text"]] == texts


@pytest.mark.parametrize("side", [0, 1])
def test_a_sentence_above_the_limit_is_named(stand_in, cache, side):
    sentences = ["short", "\u00e9" * 21000]
    table = pairs(("train", "a", "b", 1), ("train", *(sentences[::-1] if side == 0 else sentences), 1))
    with pytest.raises(InputError, match=f"pair p1: sentence{side + 1} is longer"):
        translate_pairs(table, GERMAN, cache, PLENTY)
    assert not stand_in.requests


# --- what comes out

TABLE = pairs(
    ("train", "a cat", "a dog", 3),
    ("train", "a dog", "a cat", 4.25),
    ("validation", "a cat", '\u6f22 \u0012 "it\'s"\n, &', 0),
    ("test", "None", "none", 5),
)


def test_rows_come_out_as_they_went_in(stand_in, cache):
    table, provenance = translate_pairs(TABLE, GERMAN, cache, PLENTY)
    unchanged = ["pair_id", "split", "label"]
    pd.testing.assert_frame_equal(table[unchanged], TABLE[unchanged], check_exact=True)
    assert dict(table.dtypes.astype(str)) == DTYPES
    for side in ("sentence1", "sentence2"):
        assert list(table[side]) == [mirrored(" ".join(text.split()), "DE") for text in TABLE[side]]
    sent = [text for body in stand_in.requests for text in body["text"]]
    assert sorted(sent) == sorted(" ".join(text.split()) for text in {*TABLE["sentence1"], *TABLE["sentence2"]})
    assert provenance["sentences"] == {"new": 5, "cached": 0}
    assert provenance["billed_characters"] == stand_in.billed


def test_provenance_of_what_was_there_already(stand_in, cache):
    _, first = translate_pairs(TABLE, GERMAN, cache, PLENTY)
    _, second = translate_pairs(TABLE, GERMAN, cache, PLENTY)
    assert second == first | {"sentences": {"new": 0, "cached": 5}}
    assert (second["source"], second["target"], second["formality"]) == ("EN", "DE", None)
    assert second["client"] == ["deepl 1.32.0"]
    assert second["model_type"] == ["stand_in"]
    assert second["server"] == ["127.0.0.1"]
    assert len(second["date"]) == 1


def test_each_request_says_its_source_and_formality_only_where_asked(stand_in, cache):
    translate(["one"], GERMAN, cache, PLENTY)
    translate(["one"], Direction("EN", "PT-BR", "prefer_more"), cache, PLENTY)
    assert [body["source_lang"] for body in stand_in.requests] == ["EN", "EN"]
    assert [body["target_lang"] for body in stand_in.requests] == ["DE", "PT-BR"]
    assert [body.get("formality") for body in stand_in.requests] == [None, "prefer_more"]
    assert stand_in.credentials == {f"DeepL-Auth-Key {KEY}"}
    assert stand_in.paths == {"/v2/translate", "/v2/usage"}


@pytest.mark.parametrize("end", ["", "/"])
def test_another_server_may_have_a_path(stand_in, cache, monkeypatch, end):
    monkeypatch.setenv("DEEPL_SERVER_URL", f"{stand_in.url}/deepl{end}")
    translate(["one"], GERMAN, cache, PLENTY)
    assert stand_in.paths == {"/deepl/v2/translate", "/deepl/v2/usage"}


def test_another_direction_or_formality_is_another_translation(stand_in, cache):
    directions = [GERMAN, Direction("EN", "DE", "prefer_more"), Direction("EN", "DE", "prefer_less")]
    directions += [Direction("EN", "ES", None), Direction("NL", "DE", None)]
    for direction in directions + directions:
        translate(["one"], direction, cache, PLENTY)
    assert len(stand_in.requests) == len(directions)


# --- faults


def test_refusals_that_pass_are_waited_out(stand_in, cache):
    stand_in.faults = iter([429, 429, None, 503, "drop", 500, None])
    assert translate(lines(70), GERMAN, cache, PLENTY) == 70
    assert sorted(stand_in.paid) == sorted((text, "DE") for text in lines(70))


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (429, "Too many requests"),
        (500, "500"),
        ("drop", "Connection failed"),
        (400, "as told"),
        (403, "DEEPL_AUTH_KEY is refused"),
        ("few", "49 translations came back for 50"),
        ("reorder", "another order"),
    ],
)
def test_a_stop_keeps_what_is_done_and_goes_on(stand_in, cache, fault, reason):
    stand_in.faults = itertools.chain([None], itertools.repeat(fault))
    message = refusal(lines(120), GERMAN, cache, PLENTY)
    assert reason in message
    assert "50 of 120 sentences are translated and kept: run the same command again" in message
    assert len(cache.get(GERMAN, lines(120))) == 50
    stand_in.faults = iter(())
    already = len(stand_in.requests)
    assert translate(lines(120), GERMAN, cache, PLENTY) == 70
    assert [len(body["text"]) for body in stand_in.requests[already:]] == [50, 20]
    found = cache.get(GERMAN, lines(120))
    assert {text: one.translation for text, one in found.items()} == {text: mirrored(text, "DE") for text in lines(120)}


def test_an_ended_quota_is_paid_once(stand_in, cache):
    stand_in.quota = sum(map(len, lines(110)))
    stand_in.reported_quota = PLENTY
    message = refusal(lines(150), GERMAN, cache, PLENTY)
    assert "quota" in message and "100 of 150 sentences" in message
    stand_in.quota = PLENTY
    translate(lines(150), GERMAN, cache, PLENTY)
    assert sorted(stand_in.paid) == sorted((text, "DE") for text in lines(150))


def test_a_killed_job_is_paid_once(stand_in, cache, tmp_path, root):
    """The process dies while its third request is under way; what was answered before is never sent again."""
    stand_in.faults = iter([None, None, "stall"])
    program = (
        "from pathlib import Path; from tmft.translation.translate import translate; "
        "from tmft.translation.cache import Direction, TranslationCache; "
        "translate([f'sentence {line}' for line in range(150)], Direction('EN', 'DE', None), "
        f"TranslationCache(Path({str(tmp_path / 'data' / 'translations.sqlite')!r})), {PLENTY})"
    )
    environment = os.environ | {"PYTHONPATH": str(root / "workflow" / "scripts")}
    process = subprocess.Popen([sys.executable, "-c", program], env=environment)
    assert stand_in.stalled.wait(60)
    process.send_signal(signal.SIGKILL)
    process.wait()
    texts = [f"sentence {line}" for line in range(150)]
    assert len(cache.get(GERMAN, texts)) == 100
    assert translate(texts, GERMAN, cache, PLENTY) == 50
    assert sorted(stand_in.paid) == sorted((text, "DE") for text in texts)


def test_two_jobs_at_once_pay_once(stand_in, tmp_path):
    def work(_: int) -> int:
        return translate(lines(200), GERMAN, TranslationCache(tmp_path / "shared.sqlite"), PLENTY)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert sorted(stand_in.paid) == sorted((text, "DE") for text in lines(200))


def test_a_batch_is_kept_whole_or_not_at_all(stand_in, cache):
    translate(["one"], GERMAN, cache, PLENTY)
    one = cache.get(GERMAN, ["one"])["one"]
    with pytest.raises(KeyboardInterrupt), cache.exclusive():
        cache.add(GERMAN, {"two": one})
        raise KeyboardInterrupt
    assert cache.get(GERMAN, ["one", "two"]) == {"one": one}
    assert translate(["one", "two"], GERMAN, cache, PLENTY) == 1


# --- answers that leave something out


@pytest.mark.parametrize("fault", ["bare", "blank"])
def test_what_an_answer_leaves_out_costs_nothing_more(stand_in, cache, fault):
    stand_in.faults = iter([fault])
    assert translate(lines(50), GERMAN, cache, PLENTY) == 50
    assert stand_in.requests[0]["show_billed_characters"] is True
    assert cache.billed() == stand_in.billed
    assert [body["text"] for body in stand_in.requests[1:]] == ([lines(50)[-1:]] if fault == "blank" else [])
    assert translate(lines(50), GERMAN, cache, PLENTY) == 0
    assert cache.get(GERMAN, ["none such"]) == {}


def test_a_sentence_without_translation_is_asked_for_twice_then_named_and_not_kept(stand_in, cache):
    stand_in.translate = lambda text, target: "" if text == "a dog" else mirrored(text, target)
    with pytest.raises(InputError) as failure:
        translate_pairs(TABLE, GERMAN, cache, PLENTY)
    message = str(failure.value)
    assert "pair p1: DeepL gave no translation of sentence1, asked twice" in message or "pair p0" in message
    assert "4 of 5 sentences are translated and kept" in message and "run the same command again" in message
    assert [body["text"] for body in stand_in.requests][1:] == [["a dog"]]
    assert cache.get(GERMAN, ["a dog"]) == {}
    stand_in.translate = mirrored
    _, provenance = translate_pairs(TABLE, GERMAN, cache, PLENTY)
    assert provenance["sentences"] == {"new": 1, "cached": 4}


def test_a_blank_translation_of_an_earlier_version_is_asked_for_again(stand_in, cache):
    translate(["one", "two"], GERMAN, cache, PLENTY)
    cache.add(GERMAN, {"one": cache.get(GERMAN, ["one"])["one"]._replace(translation=" ")})
    assert translate(["one", "two"], GERMAN, cache, PLENTY) == 1
    assert cache.get(GERMAN, ["one"])["one"].translation == mirrored("one", "DE")


def test_a_paid_answer_is_on_disk_before_anything_looks_at_it(stand_in, cache, monkeypatch):
    def fails(_answer: object) -> None:
        raise TypeError("whatever reading may run into")

    with monkeypatch.context() as broken, pytest.raises(TypeError):
        broken.setattr("tmft.translation.translate.read", fails)
        translate(lines(20), GERMAN, cache, PLENTY)
    assert translate(lines(20), GERMAN, cache, PLENTY) == 0  # all of it comes from the answer that was kept
    assert len(stand_in.requests) == 1
    assert len(cache.get(GERMAN, lines(20))) == 20


def test_a_garbled_answer_is_refused_and_counts_as_paid(stand_in, cache):
    stand_in.faults = iter(["garbled"])
    assert "0 translations came back for 20 sentences" in refusal(lines(20), GERMAN, cache, PLENTY)
    assert cache.billed() == sum(map(len, lines(20)))
    assert translate(lines(20), GERMAN, cache, PLENTY) == 20


@pytest.mark.parametrize("text", ["a\nb", "a \t b", "\u00a0a\u2003b\r\n", "a\u2028b"])
def test_inner_white_space_is_one_space(stand_in, cache, text):
    table, _ = translate_pairs(pairs(("train", text, "a b", 1)), GERMAN, cache, PLENTY)
    assert [body["text"] for body in stand_in.requests] == [["a b"]]
    assert table.loc[0, "sentence1"] == table.loc[0, "sentence2"] == "DE:b a"


def test_blanks_stay_blank_and_are_never_sent(stand_in, cache):
    table, provenance = translate_pairs(pairs(("train", " \n", "a", 1), ("train", "", "a", 1)), GERMAN, cache, PLENTY)
    assert list(table["sentence1"]) == ["", ""] and stand_in.requests[0]["text"] == ["a"]
    assert provenance["sentences"] == {"new": 1, "cached": 0}


def test_a_damaged_cache_is_named(tmp_path):
    (tmp_path / "cache.sqlite").write_text("not a database at all " * 99)
    with pytest.raises(InputError, match="cache.sqlite"):
        TranslationCache(tmp_path / "cache.sqlite")


# --- costs


def test_estimate_needs_neither_network_nor_key(tmp_path, monkeypatch):
    monkeypatch.delenv("DEEPL_AUTH_KEY", raising=False)
    monkeypatch.setenv("DEEPL_SERVER_URL", "http://127.0.0.1:9")
    table = pairs(("train", "abc", "abc", 1), ("train", "a\u00e9\u6f22", "abc", 1))
    tasks = {"german": (GERMAN, table), "spanish": (Direction("EN", "ES", None), table)}
    report = estimate(tasks, TranslationCache(tmp_path / "cache.sqlite"), 10)
    assert report["total"] == {"distinct": 12, "cached": 0, "new": 12}
    assert report["tasks"]["german"]["characters"] == {"all": 12, "distinct": 6, "cached": 0, "new": 6}
    assert report["tasks"]["german"]["sentences"] == 2
    assert report["cap"] == {"characters": 10, "left": 10, "allows_all": False}


def test_estimate_leaves_out_what_is_cached_and_counts_shared_sentences_once(stand_in, cache):
    translate(["abc"], GERMAN, cache, PLENTY)
    table = pairs(("train", "abc", "de", 1))
    report = estimate({"one": (GERMAN, table), "other": (GERMAN, table)}, cache, 5)
    assert report["tasks"]["other"]["characters"] == {"all": 5, "distinct": 5, "cached": 3, "new": 2}
    assert report["total"] == {"distinct": 5, "cached": 3, "new": 2}
    assert report["cap"] == {"characters": 5, "left": 2, "allows_all": True}


def test_estimate_is_what_is_billed(stand_in, cache):
    new = estimate({"german": (GERMAN, TABLE)}, cache, PLENTY)["total"]["new"]
    translate_pairs(TABLE, GERMAN, cache, PLENTY)
    assert stand_in.billed == new
    assert estimate({"german": (GERMAN, TABLE)}, cache, PLENTY)["total"]["new"] == 0


def test_the_english_sts_benchmark_costs_what_the_documentation_says(root, real_data, cache):
    source = yaml.safe_load((root / "workflow/sources.yaml").read_text())["stsb-en"]
    files = {split: real_data / file["name"] for split, file in source["files"].items()}
    table = read_delimited(files, source["reading"], source["label_range"])
    characters = estimate({"stsb-de": (GERMAN, table)}, cache, PLENTY)["tasks"]["stsb-de"]["characters"]
    assert characters == {"all": 1002293, "distinct": 932139, "cached": 0, "new": 932139}


def test_the_cap_holds_for_all_runs_together(stand_in, cache):
    translate(["abc"], GERMAN, cache, cap=3)
    message = refusal(["abc", "d"], GERMAN, cache, cap=3)
    assert "1 characters to translate" in message and "translation.cap: 3" in message
    assert len(stand_in.requests) == 1
    assert translate(["abc", "d"], GERMAN, cache, cap=4) == 1
    assert translate(["abc", "d"], GERMAN, cache, cap=0) == 0


def test_more_than_the_account_has_is_refused_unsent(stand_in, cache):
    stand_in.quota = 9
    translate(["abc"], GERMAN, cache, PLENTY)
    assert "7 characters" in (message := refusal(["defghij"], GERMAN, cache, PLENTY)) and "the 6 left" in message
    assert len(stand_in.requests) == 1
    assert translate(["defghi"], GERMAN, cache, PLENTY) == 1


# --- the key


@pytest.mark.parametrize("value", [None, "", " ", "SECRET\n123", "SECR\u00c9T"])
def test_a_missing_or_broken_key_is_refused_unseen(stand_in, cache, monkeypatch, value):
    monkeypatch.delenv("DEEPL_AUTH_KEY") if value is None else monkeypatch.setenv("DEEPL_AUTH_KEY", value)
    message = refusal(["abc"], GERMAN, cache, PLENTY)
    assert "DEEPL_AUTH_KEY" in message and "SECR" not in message


def test_space_around_the_key_is_dropped(monkeypatch):
    monkeypatch.setenv("DEEPL_AUTH_KEY", f" {KEY}\n")
    assert auth_key() == KEY


# --- the pipeline

CONFIG = """
encoders: {}
tasks:
  scenes: {scenes: {train: 60, validation: 20, test: 20}, objective: cosine_regression}
  scenes-de: {translation: {from: scenes, source: en, target: de}, objective: cosine_regression}
  scenes-pt: {translation: {from: scenes, source: EN, target: pt-br}, objective: cosine_regression}
recipes: {}
figures: {}
"""
GERMAN_FILE, BRAZILIAN_FILE = "data/pairs/scenes-de.csv", "data/pairs/scenes-pt.csv"


def found_in(folder: Path, text: str) -> list[Path]:
    """The files below a folder that hold a text, or have it in their names."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if text.encode() in path.read_bytes() or text in str(path.relative_to(folder))]


def test_pipeline_translates_goes_on_and_keeps_the_key_to_itself(root, tmp_path, stand_in, monkeypatch):
    (tmp_path / "config.yaml").write_text(CONFIG)
    targets = (GERMAN_FILE, BRAZILIAN_FILE, "--cores", "2")

    with monkeypatch.context() as without_key:
        without_key.delenv("DEEPL_AUTH_KEY")
        run = snakemake(tmp_path, *targets, root=root)
        assert run.returncode != 0 and "Traceback" not in run.stdout
        assert sum("DEEPL_AUTH_KEY" in line for line in run.stdout.splitlines()) == 1
        assert not (tmp_path / "data").exists() and not (tmp_path / "logs").exists()
        assert snakemake(tmp_path, *targets, "-n", root=root).returncode == 0
        run = snakemake(tmp_path, "estimate_translation", "--cores", "1", root=root)
        assert run.returncode == 0, run.stdout
    report = json.loads((tmp_path / "results/translation/estimate.json").read_text())
    assert {(task["source"], task["target"]) for task in report["tasks"].values()} == {("EN", "DE"), ("EN", "PT-BR")}

    stand_in.quota = report["total"]["new"] // 3
    stand_in.reported_quota = PLENTY
    run = snakemake(tmp_path, *targets, "--verbose", "--printshellcmds", root=root)
    assert run.returncode != 0 and "Error in rule translate_pairs: DeepL: the quota" in run.stdout
    assert "SECRET123" not in run.stdout
    assert stand_in.billed > 0 and not (tmp_path / GERMAN_FILE).exists()

    stand_in.quota = PLENTY
    run = snakemake(tmp_path, *targets, root=root)
    assert run.returncode == 0 and "SECRET123" not in run.stdout, run.stdout
    assert len(stand_in.paid) == len(set(stand_in.paid)) and stand_in.billed == report["total"]["new"]
    original, german = read_pairs(tmp_path / "data/pairs/scenes.csv"), read_pairs(tmp_path / GERMAN_FILE)
    assert list(german["sentence2"]) == [mirrored(text, "DE") for text in original["sentence2"]]
    unchanged = ["pair_id", "split", "label"]
    pd.testing.assert_frame_equal(german[unchanged], original[unchanged], check_exact=True)
    provenance = json.loads((tmp_path / "data/pairs/scenes-pt.provenance.json").read_text())
    assert (provenance["from"], provenance["target"]) == ("scenes", "PT-BR")

    monkeypatch.delenv("DEEPL_AUTH_KEY")
    run = snakemake(tmp_path, "estimate_translation", *targets, root=root)
    assert json.loads((tmp_path / "results/translation/estimate.json").read_text())["total"]["new"] == 0, run.stdout
    assert "Nothing to be done" in snakemake(tmp_path, "estimate_translation", *targets, "-n", root=root).stdout

    assert stand_in.credentials == {f"DeepL-Auth-Key {KEY}"}
    assert found_in(tmp_path, "SECRET123") == []


@pytest.mark.parametrize(
    ("translation", "words"),
    [
        ({"from": "scenes", "source": "EN", "target": "EN"}, ["tasks.scenes-de.translation.target", "EN-GB or EN-US"]),
        ({"from": "scenes", "source": "EN-US", "target": "DE"}, ["tasks.scenes-de.translation.source", "choose EN"]),
        ({"from": "scene", "source": "EN", "target": "DE"}, ["unknown task 'scene'"]),
        ({"from": "scenes-pt", "source": "PT", "target": "DE"}, ["'scenes-pt' is a translation itself"]),
        ({"from": "scenes", "source": "EN", "target": "DE", "formality": "more"}, ["formality", "'more'"]),
        ({"from": "scenes", "source": "EN"}, ["'target' is missing"]),
    ],
)
def test_mistakes_are_refused_at_the_start(translation, words):
    from tmft.experiment.configuration import load

    config = yaml.safe_load(CONFIG)
    config["tasks"]["scenes-de"]["translation"] = translation
    with pytest.raises(InputError) as failure:
        load(config, {})
    assert all(word in str(failure.value) for word in words)
