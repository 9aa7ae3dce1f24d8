"""Machine translation of sentence pairs by the DeepL API: each distinct sentence is sent, and paid, once."""

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import deepl
import pandas as pd

from tmft.runtime.errors import InputError
from tmft.runtime.progress import progress
from tmft.translation.cache import Direction, TranslationCache
from tmft.translation.client import Client, read

SIDES = ["sentence1", "sentence2"]
BATCH_TEXTS = 50  # DeepL's limit
BATCH_BYTES = 120 * 1024  # of the encoded texts; DeepL's limit is 128 KiB for the whole body
ORIGIN = ("model_type", "client", "server", "date")  # what is told of each translation
GO_ON = "run the same command again to go on"


def translate_to(
    direction: dict[str, str], pairs: pd.DataFrame, cache: str, cap: int
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """``translate_pairs`` in a direction as the configuration has it, with the cache in a file."""
    return translate_pairs(pairs, Direction(**direction), TranslationCache(Path(cache)), cap)


def translate_pairs(
    pairs: pd.DataFrame, direction: Direction, cache: TranslationCache, cap: int
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Translate both sentences of each pair; all other columns and the order of the rows stay, and so do blanks.

    Returns the table and its provenance: direction, distinct sentences (``new`` in this run, ``cached`` before), and by
    whom, when and for how many characters they were translated, in whichever run.

    Raises InputError naming the pair whose sentence is too long for a request or gets no translation, and as
    ``translate`` does.
    """
    lines = pairs[SIDES].map(one_line)
    for side in SIDES:
        if name := _first(pairs, lines[side].map(encoded_bytes) > BATCH_BYTES):
            raise InputError(f"{name}: {side} is longer than DeepL takes (128 KiB); shorten or remove it")
    sentences = distinct(pairs)
    new = translate(sentences, direction, cache, cap)
    translations = cache.get(direction, sentences)
    for side in SIDES:
        if name := _first(pairs, (lines[side] != "") & ~lines[side].isin(list(translations))):
            raise InputError(
                f"{name}: DeepL gave no translation of {side}, asked twice; {len(translations)} of {len(sentences)} "
                f"sentences are translated and kept: change or remove the row where the pairs are yours, and {GO_ON}"
            )
    texts = {text: one.translation for text, one in translations.items()}
    table = pairs.assign(**{side: lines[side].map(lambda text: texts.get(text, "")) for side in SIDES})
    values = {field: sorted({getattr(one, field) for one in translations.values()} - {None}) for field in ORIGIN}
    return table, {
        **direction._asdict(),
        "sentences": {"new": new, "cached": len(sentences) - new},
        "billed_characters": sum(one.billed_characters for one in translations.values()),
        **values,
    }


def one_line(text: str) -> str:
    """A text as it is sent: without outer white space, and with one space for each inner one."""
    return " ".join(text.split())


def distinct(pairs: pd.DataFrame) -> list[str]:
    """The sentences of a table as they are sent, each once, in the order of their first occurrence, blanks left out."""
    return _sendable(pairs[SIDES].to_numpy().ravel())


def translate(texts: Iterable[str], direction: Direction, cache: TranslationCache, cap: int) -> int:
    """Bring the translations of ``texts`` (as by ``one_line``) into the cache; return how many were not there before.

    One request at a time, over all processes that share the cache; each answer is kept before it is read. Refusals and
    failures that may pass (HTTP status 429 and 5xx, lost connections) are repeated by DeepL's client. A text whose
    translation comes back blank is asked for once more, and else left without one.

    Raises InputError, before the first paid request, where the new characters are more than ``cap`` leaves or the
    account has; and where DeepL cannot go on, saying how much is done.
    """
    texts = _sendable(texts)
    with cache.exclusive():
        _read_answers(cache)
    new = _missing(texts, direction, cache)
    if not new:
        return 0
    _check_cap(characters(new), cache.billed(), cap)
    try:
        client = Client()
        _check_quota(characters(new), client.characters_left())
        for batch in progress(list(batches(new)), "translating"):
            _ask(client, batch, direction, cache)
        for batch in batches(_missing(new, direction, cache)):
            _ask(client, batch, direction, cache)
    except deepl.DeepLException as error:
        raise InputError(
            f"DeepL: {_reason(error)}; {len(cache.get(direction, texts))} of {len(texts)} sentences are translated and "
            f"kept: {GO_ON}"
        ) from error
    return len(new) - len(_missing(new, direction, cache))


def _ask(client: Client, batch: list[str], direction: Direction, cache: TranslationCache) -> None:
    """Make one request for those of a batch that have no translation yet, keep its answer, and read it."""
    with cache.exclusive():
        _read_answers(cache)  # of another process, in the meantime
        new = _missing(batch, direction, cache)
        if not new:
            return
        cache.require_room()
        cache.keep(client.ask(new, direction))
    with cache.exclusive():
        problems = _read_answers(cache)
    if problems:
        raise deepl.DeepLException(problems[0])


def _read_answers(cache: TranslationCache) -> list[str]:
    """Turn the answers that were kept into translations; return what is wrong with those that give none."""
    problems = []
    for number, answer in cache.unread():
        translations, problem = read(answer)
        cache.add(answer.direction, translations)
        cache.close(number, set(answer.texts) - set(translations), problem or "empty translations")
        problems += [problem] if problem else []
    return problems


def _missing(texts: Iterable[str], direction: Direction, cache: TranslationCache) -> list[str]:
    texts = list(texts)
    known = cache.get(direction, texts)
    return [text for text in texts if text not in known]


def _sendable(texts: Iterable[str]) -> list[str]:
    return [text for text in dict.fromkeys(map(one_line, texts)) if text]


def _first(pairs: pd.DataFrame, rows: pd.Series) -> str | None:
    """The name of the first of the ``rows`` that are true, if any."""
    return f"pair {pairs.loc[rows, 'pair_id'].iloc[0]}" if rows.any() else None


def batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """Split texts into requests of at most BATCH_TEXTS texts and BATCH_BYTES encoded bytes, in order.

    A text above BATCH_BYTES has a batch of its own.
    """
    batch, size = [], 0
    for text in texts:
        if batch and (len(batch) == BATCH_TEXTS or size + encoded_bytes(text) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += encoded_bytes(text)
    if batch:
        yield batch


def encoded_bytes(text: str) -> int:
    """The bytes a text takes in the body of a request, as a JSON item or a form field, whichever is more."""
    return max(len(json.dumps(text)) + len(", "), len(urlencode({"text": text})) + len("&"))


def characters(texts: Iterable[str]) -> int:
    """What DeepL counts and bills: Unicode code points of the source texts."""
    return sum(map(len, texts))


def estimate(tasks: dict[str, tuple[Direction, pd.DataFrame]], cache: TranslationCache, cap: int) -> dict[str, Any]:
    """What translations will cost, without asking DeepL.

    ``tasks`` has the direction and the pairs of each translation. The characters of a task are those of ``all``
    sentences, of the ``distinct`` ones, and of these the ``cached`` and the ``new`` ones, which will be billed. A
    sentence that several tasks translate in the same direction is counted once in the total.
    """
    report, texts = {}, {}
    for task, (direction, pairs) in tasks.items():
        sentences = distinct(pairs)
        report[task] = {
            **direction._asdict(),
            "sentences": len(sentences),
            "characters": {"all": characters(map(one_line, pairs[SIDES].to_numpy().ravel()))}
            | _counts(direction, sentences, cache),
        }
        texts.setdefault(direction, {}).update(dict.fromkeys(sentences))
    by_direction = [_counts(direction, sentences, cache) for direction, sentences in texts.items()]
    total = {kind: sum(counts[kind] for counts in by_direction) for kind in ("distinct", "cached", "new")}
    left = cap - cache.billed()
    return {
        "tasks": report,
        "total": total,
        "cap": {"characters": cap, "left": left, "allows_all": total["new"] <= left},
    }


def estimate_to(
    tasks: dict[str, tuple[dict[str, str], pd.DataFrame]], cache: Sequence[Path], cap: int
) -> dict[str, Any]:
    """``estimate`` of directions as the configuration has them, with the cache in a file, if there is one."""
    directed = {key: (Direction(**direction), pairs) for key, (direction, pairs) in tasks.items()}
    return estimate(directed, TranslationCache(Path(*cache or [":memory:"])), cap)


def to_text(report: dict[str, Any]) -> str:
    """The characters of an estimate as a table for a terminal."""
    characters = {task: own["characters"] for task, own in report["tasks"].items()} | {"total": report["total"]}
    cap = report["cap"]
    return f"{pd.DataFrame(characters).T.to_string(na_rep='')}\ncap {cap['characters']}, left {cap['left']}"


def _counts(direction: Direction, sentences: Iterable[str], cache: TranslationCache) -> dict[str, int]:
    counts = {"distinct": characters(sentences), "cached": characters(cache.get(direction, sentences))}
    return counts | {"new": counts["distinct"] - counts["cached"]}


def _check_cap(needed: int, billed: int, cap: int) -> None:
    if needed > cap - billed:
        raise InputError(
            f"{needed} characters to translate, and {billed} translated so far, are more than translation.cap: {cap}; "
            "raise it in the config if you mean to pay for that (all costs: target estimate_translation)"
        )


def _check_quota(needed: int, account: tuple[int, int] | None) -> None:
    if account and needed > account[0]:
        raise InputError(
            f"{needed} characters to translate are more than the {account[0]} left of the DeepL account's {account[1]}"
            "; nothing was sent: wait for the next billing period or enlarge the quota"
        )


def _reason(error: deepl.DeepLException) -> str:
    if isinstance(error, deepl.QuotaExceededException):
        return "the quota of this billing period is used up"
    if isinstance(error, deepl.AuthorizationException):
        return "the key in DEEPL_AUTH_KEY is refused"
    return textwrap.shorten(str(error).rstrip("."), 300)
