"""Requests to the DeepL API, and how their answers are read."""

import json
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import deepl

from tmft.translation.cache import Answer, Direction, Translation
from tmft.translation.key import auth_key


class Client(deepl.DeepLClient):
    """DeepL's client, with its waiting and repeating, but without its own reading of a translation's answer, which
    fails where the answer leaves something out.

    The environment variable DEEPL_SERVER_URL names another server than DeepL's own.
    """

    def __init__(self) -> None:
        server = os.environ.get("DEEPL_SERVER_URL")
        super().__init__(auth_key(), server_url=f"{server.rstrip('/')}/" if server else None, send_platform_info=False)

    def characters_left(self) -> tuple[int, int] | None:
        """The characters left in this billing period and its limit; None where the server does not tell.

        Raises deepl.DeepLException where the key is refused or nobody answers.
        """
        try:
            account = self.get_usage().character
        except (deepl.AuthorizationException, deepl.ConnectionException):
            raise
        except (deepl.DeepLException, ValueError, TypeError):
            return None
        return (max(account.limit - account.count, 0), account.limit) if account.valid else None

    def ask(self, texts: Sequence[str], direction: Direction) -> Answer:
        """The answer to a request for the translation of ``texts``, unread. Raises deepl.DeepLException."""
        body = {
            "text": list(texts),
            "source_lang": direction.source,
            "target_lang": direction.target,
            "formality": direction.formality,
            "show_billed_characters": True,
        }
        given = {key: value for key, value in body.items() if value is not None}
        status, content, found = self._api_call("v2/translate", json=given)
        self._raise_for_status(status, content, found)
        return Answer(
            direction,
            tuple(texts),
            content if isinstance(content, str) else content.text,
            f"deepl {deepl.__version__}",
            urlsplit(self.server_url).hostname or "",
            datetime.now(UTC).date().isoformat(),
        )


def read(answer: Answer) -> tuple[dict[str, Translation], str | None]:
    """The translations in an answer by text, matched by position, and what is wrong with the answer as a whole.

    A text whose translation is blank or no text is left out. Where the answer does not say what it was billed for,
    that is the text's own characters.
    """
    found = _items(answer.content)
    if len(found) != len(answer.texts):
        return {}, f"{len(found)} translations came back for {len(answer.texts)} sentences"
    billed, lengths = [item.get("billed_characters") for item in found], list(map(len, answer.texts))
    if billed != lengths and sorted(map(str, billed)) == sorted(map(str, lengths)):
        return {}, "the translations came back in another order"
    translations = {
        text: Translation(
            item["text"],
            _count(item.get("billed_characters"), text),
            model if isinstance(model := item.get("model_type_used"), str) else None,
            *answer[-3:],
        )
        for text, item in zip(answer.texts, found, strict=True)
        if _is_text(item.get("text"))
    }
    if len(answer.texts) > 1 and not translations:
        return {}, f"all translations of {len(answer.texts)} sentences came back empty"
    return translations, None


def _items(content: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(content)["translations"]
    except (ValueError, TypeError, KeyError):
        return []
    return [item if isinstance(item, dict) else {} for item in found] if isinstance(found, list) else []


def _count(billed: Any, text: str) -> int:
    return int(billed) if re.fullmatch(r"[0-9]{1,9}", str(billed)) else len(text)


def _is_text(value: Any) -> bool:
    """Whether a value is text that says something and that a file can hold (no half of a surrogate pair)."""
    return isinstance(value, str) and bool(value.strip()) and value.encode(errors="ignore").decode() == value
