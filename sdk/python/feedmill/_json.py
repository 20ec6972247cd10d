"""JSON without loss: numbers keep their exact value in both directions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any


def _number(text: str) -> float | Decimal:
    """Return a float if it has exactly this decimal value when printed, otherwise a Decimal."""
    value = float(text)
    return value if Decimal(repr(value)) == Decimal(text) else Decimal(text)


def loads(text: bytes | str) -> Any:
    """Parse JSON. A number that a float would round is a Decimal."""
    return json.loads(text, parse_float=_number)


def loads_exact(text: bytes | str) -> Any:
    """Parse JSON. Every number with a point or an exponent is a Decimal."""
    return json.loads(text, parse_float=Decimal)


def dumps(value: Any) -> str:
    """Serialize JSON. A Decimal becomes a JSON number with all its digits."""
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is not a JSON number")
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(json.dumps(_name(k)) + ":" + dumps(v) for k, v in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        return "[" + ",".join(map(dumps, value)) + "]"
    return json.dumps(value, allow_nan=False)


def _name(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"keys of JSON objects must be str; got {type(key).__name__}")
    return key
