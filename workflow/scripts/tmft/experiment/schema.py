"""The schema of the configuration: defaults, one form for what means the same, and one clear line for what is wrong."""

import copy
import difflib
import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from tmft.runtime.errors import InputError

FILE = Path(__file__).parents[3] / "schemas" / "config.schema.yaml"
LARGEST = 2**32 - 1  # of all numbers: the largest seed that NumPy takes
WORDS = "YAML reads words such as no, yes, on and off as false and true; put them in quotes"


@cache
def read() -> dict[str, Any]:
    """The JSON Schema of the configuration."""
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def validated(config: dict[str, Any]) -> dict[str, Any]:
    """The settings that ``config`` means: defaults filled in, each key in its place in the schema, then by name.

    Text becomes a number where the schema wants one: YAML 1.1 takes ``2e-5`` for text, and Snakemake's ``--config`` all
    that is nested. A whole number becomes a float where the schema wants any number.
    Raises InputError with one line that names the key and the remedy.
    """
    settings = _complete(copy.deepcopy(config), read())
    validator = jsonschema.Draft202012Validator(read())
    for error in sorted(validator.iter_errors(settings), key=lambda error: [str(part) for part in error.absolute_path]):
        raise InputError(_message(error))
    for where, number in _numbers(settings, ()):
        if not math.isfinite(number) or abs(number) > LARGEST:
            raise InputError(f"config: {_dotted(where)}: {number} is not a number from {-LARGEST} to {LARGEST}")
    return settings


def completed(settings: dict[str, Any]) -> dict[str, Any]:
    """Valid settings with the defaults and the order of the schema."""
    return _complete(settings, read())


def paths(settings: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The dotted key and the value of each path (``format: path``) that validated settings name."""
    for where, value, own in walk(settings):
        if own.get("format") == "path" and value is not None:
            yield _dotted(where), value


def walk(settings: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], Any, dict[str, Any]]]:
    """The place, the value and the schema of each part of validated settings, containers first."""
    yield from _walk(settings, read(), ())


def check_spelling(text: str, name: str) -> None:
    """Refuse what YAML 1.1 reads as something else than it looks: octal and sexagesimal numbers, and repeated keys.

    ``text`` is a configuration file's, ``name`` its name. Raises InputError with the line.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise InputError(f"{name}: not a YAML file ({' '.join(str(error).split())}); correct it") from error
    waiting = [] if root is None else [root]
    while waiting:
        node = waiting.pop()
        where = f"{name}, line {node.start_mark.line + 1}"
        if isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                    if key.value in seen:
                        raise InputError(
                            f"{name}, line {key.start_mark.line + 1}: key '{key.value}' stands twice; remove one"
                        )
                    seen.add(key.value)
                waiting += [key, value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif node.tag == "tag:yaml.org,2002:int" and not re.fullmatch(r"[-+]?(0|[1-9]\d*)", node.value):
            raise InputError(
                f"{where}: YAML reads {node.value} as {yaml.safe_load(node.value)}; write the number itself"
            )


def _complete(value: Any, schema: dict[str, Any]) -> Any:
    """Fill defaults in (not where the schema is ``partial``), and bring keys and numbers into one form."""
    schema = _resolved(schema, value)
    if isinstance(value, dict):
        own = schema.get("properties", {})
        other = schema.get("additionalProperties")
        for key, subschema in own.items():
            if key not in value and "default" in subschema and not schema.get("partial"):
                value[key] = copy.deepcopy(subschema["default"])
        ordered = [key for key in own if key in value] + sorted((key for key in value if key not in own), key=str)
        subschemas = {key: own.get(key, other) for key in ordered}
        return {
            key: _complete(value[key], subschema) if isinstance(subschema, dict) else value[key]
            for key, subschema in subschemas.items()
        }
    if isinstance(value, list) and "items" in schema:
        return [_complete(item, schema["items"]) for item in value]
    types = schema.get("type", [])
    if isinstance(value, str):
        if "integer" in types and re.fullmatch(r"[-+]?(0|[1-9]\d*)", value):
            return int(value)
        if "number" in types and re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", value):
            return float(value)
    if "number" in types and isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST:
        return float(value)
    return value


def _resolved(schema: dict[str, Any], value: Any) -> dict[str, Any]:
    """The schema of a value, references followed and the branch of its kind taken in."""
    if "$ref" in schema:
        schema = read()["$defs"][schema["$ref"].rpartition("/")[2]] | schema
    for branch in schema.get("allOf", []) if isinstance(value, dict) else []:
        if branch["if"]["properties"]["kind"]["const"] == value.get("kind"):
            return _resolved(branch["then"], value)
    return schema


def _walk(value: Any, schema: dict[str, Any], where: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any, dict]]:
    """Each value with its place and its schema."""
    schema = _resolved(schema, value)
    yield where, value, schema
    if isinstance(value, dict):
        for key, item in value.items():
            subschema = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            if isinstance(subschema, dict):
                yield from _walk(item, subschema, (*where, key))
    elif isinstance(value, list) and "items" in schema:
        for place, item in enumerate(value):
            yield from _walk(item, schema["items"], (*where, place))


def _numbers(value: Any, where: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], float]]:
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _numbers(item, (*where, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield where, value


def _dotted(where: Any) -> str:
    return ".".join(map(str, where)) or "the top level"


def _message(error: jsonschema.ValidationError) -> str:
    where = _dotted(error.absolute_path)
    if error.validator == "additionalProperties":
        known = list(error.schema["properties"])
        unknown = next(key for key in error.instance if key not in known)
        close = difflib.get_close_matches(unknown, known, 1)
        hint = f"did you mean '{close[0]}'?" if close else f"known keys: {', '.join(known)}"
        return f"config: unknown key '{unknown}' at {where}; {hint}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"config: key '{missing}' is missing at {where}"
    if "propertyNames" in error.schema_path:
        if isinstance(error.instance, bool):
            return f"config: a key at {where} is {error.instance}; {WORDS}"
        return (
            f"config: {error.instance!r} at {where} is no valid key; keys go into paths: letters, digits, '.', '_' and "
            "'-' only, e.g. hub ids belong into 'hub:'"
        )
    if error.validator == "oneOf":
        return f"config: {where} is {error.instance!r}, which is none of these: {error.schema['description']}"
    hint = f"; {WORDS}" if isinstance(error.instance, bool) else ""
    return f"config: {where}: {error.message}{hint}"
