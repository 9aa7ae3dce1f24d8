"""Machine translation of sentence pairs by the DeepL API: each distinct sentence is sent, and paid, once."""

import json
import os
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

import deepl
import pandas as pd

from tmft.runtime.errors import InputError
from tmft.runtime.progress import progress
from tmft.translation.cache import Direction, Translation, TranslationCache
from tmft.translation.key import auth_key

SIDES = ["sentence1", "sentence2"]
BATCH_TEXTS = 50  # DeepL's limit
BATCH_BYTES = 120 * 1024  # of the encoded texts; DeepL's limit is 128 KiB for the whole body
ORIGIN = ("model_type", "client", "server", "date")  # what is told of each translation


def translate_pairs(
    pairs: pd.DataFrame, direction: Direction, cache: TranslationCache, cap: int
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Translate both sentences of each pair; all other columns and the order of the rows stay.

    Returns the table and its provenance: direction, distinct sentences (``new`` in this run, ``cached`` before), and by
    whom, when and for how many characters they were translated, in whichever run.

    Raises InputError naming the pair whose sentence is too long for a request, and as ``translate`` does.
    """
    for side in SIDES:
        too_long = pairs[side].map(encoded_bytes) > BATCH_BYTES
        if too_long.any():
            pair = pairs.loc[too_long, "pair_id"].iloc[0]
            raise InputError(f"pair {pair}: {side} is longer than DeepL takes (128 KiB); shorten or remove it")
    sentences = distinct(pairs)
    new = translate(sentences, direction, cache, cap)
    translations = cache.get(direction, sentences)
    table = pairs.assign(
        **{side: pairs[side].map({text: one.translation for text, one in translations.items()}) for side in SIDES}
    )
    values = {field: sorted({getattr(one, field) for one in translations.values()} - {None}) for field in ORIGIN}
    return table, {
        **direction._asdict(),
        "sentences": {"new": new, "cached": len(sentences) - new},
        "billed_characters": sum(one.billed_characters for one in translations.values()),
        **values,
    }


def distinct(pairs: pd.DataFrame) -> list[str]:
    """The sentences of a table, each once, in the order of their first occurrence."""
    return list(dict.fromkeys(pairs[SIDES].to_numpy().ravel()))


def translate(texts: Sequence[str], direction: Direction, cache: TranslationCache, cap: int) -> int:
    """Bring the translations of distinct ``texts`` into the cache; return how many were not there before.

    One request at a time, over all processes that share the cache; each finished batch is kept at once. Refusals and
    failures that may pass (HTTP status 429 and 5xx, lost connections) are repeated by DeepL's client.

    Raises InputError, before the first paid request, where the new characters are more than ``cap`` leaves or the
    account has; and where DeepL cannot go on, saying how much is done.
    """
    known = cache.get(direction, texts)
    new = [text for text in texts if text not in known]
    if not new:
        return 0
    _check_cap(characters(new), cache.billed(), cap)
    try:
        client = _connect()
        _check_quota(characters(new), client.get_usage())
        for batch in progress(list(batches(new)), "translating"):
            with cache.exclusive():
                known = cache.get(direction, batch)  # by another process in the meantime
                cache.add(direction, _request(client, [text for text in batch if text not in known], direction))
    except deepl.DeepLException as error:
        raise InputError(
            f"DeepL: {_reason(error)}; {len(cache.get(direction, texts))} of {len(texts)} sentences are translated and "
            "kept: run the same command again to go on"
        ) from error
    return len(new)


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
            "characters": {"all": characters(pairs[SIDES].to_numpy().ravel())} | _counts(direction, sentences, cache),
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


def _counts(direction: Direction, sentences: Iterable[str], cache: TranslationCache) -> dict[str, int]:
    counts = {"distinct": characters(sentences), "cached": characters(cache.get(direction, sentences))}
    return counts | {"new": counts["distinct"] - counts["cached"]}


def _connect() -> deepl.DeepLClient:
    """DeepL's client; the environment variable DEEPL_SERVER_URL names another server than DeepL's own."""
    server = os.environ.get("DEEPL_SERVER_URL")
    return deepl.DeepLClient(
        auth_key(), server_url=f"{server.rstrip('/')}/" if server else None, send_platform_info=False
    )


def _check_cap(needed: int, billed: int, cap: int) -> None:
    if needed > cap - billed:
        raise InputError(
            f"{needed} characters to translate, and {billed} translated so far, are more than translation.cap: {cap}; "
            "raise it in the config if you mean to pay for that (all costs: target estimate_translation)"
        )


def _check_quota(needed: int, usage: deepl.Usage) -> None:
    account = usage.character
    if account.valid and needed > account.limit - account.count:
        raise InputError(
            f"{needed} characters to translate are more than the {max(account.limit - account.count, 0)} left of the "
            f"DeepL account's {account.limit}; nothing was sent: wait for the next billing period or enlarge the quota"
        )


def _request(client: deepl.DeepLClient, texts: list[str], direction: Direction) -> dict[str, Translation]:
    """The translations of one batch by text, matched by position."""
    if not texts:
        return {}
    results = client.translate_text(
        texts, source_lang=direction.source, target_lang=direction.target, formality=direction.formality
    )
    if len(results) != len(texts):
        raise deepl.DeepLException(f"{len(results)} translations came back for {len(texts)} sentences")
    billed, lengths = [result.billed_characters for result in results], [len(text) for text in texts]
    if billed != lengths and sorted(billed) == sorted(lengths):
        raise deepl.DeepLException("the translations came back in another order")
    origin = {
        "client": f"deepl {deepl.__version__}",
        "server": urlsplit(client.server_url).hostname,
        "date": datetime.now(UTC).date().isoformat(),
    }
    return {
        text: Translation(result.text, result.billed_characters, result.model_type_used, **origin)
        for text, result in zip(texts, results, strict=True)
    }


def _reason(error: deepl.DeepLException) -> str:
    if isinstance(error, deepl.QuotaExceededException):
        return "the quota of this billing period is used up"
    if isinstance(error, deepl.AuthorizationException):
        return "the key in DEEPL_AUTH_KEY is refused"
    return textwrap.shorten(str(error).rstrip("."), 300)
