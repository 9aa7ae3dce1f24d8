"""The key of the DeepL account."""

import os
import re

from tmft.runtime.errors import InputError


def auth_key() -> str:
    """The key of the DeepL account, from the environment. Raises InputError where it is missing or cannot be one."""
    key = os.environ.get("DEEPL_AUTH_KEY", "").strip()
    if not re.fullmatch("[!-~]+", key):  # the errors of HTTP libraries quote what no header may hold
        raise InputError(
            "translation needs the key of a DeepL API account, and nothing else, in the environment variable "
            "DEEPL_AUTH_KEY; set it and run the same command again"
        )
    return key
