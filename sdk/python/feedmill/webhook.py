"""Verification of webhook deliveries."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any
from urllib.parse import unquote_to_bytes

from . import _json
from .errors import FeedmillError

#: The maximum difference between the time of a signature and now, in seconds.
DEFAULT_TOLERANCE = 300.0


class WebhookError(FeedmillError):
    """A request is not a valid delivery. No message contains a secret."""


class SecretError(WebhookError):
    """A text is not a signing secret."""


class SignatureError(WebhookError):
    """The request is not signed, or not with one of the secrets."""


class TimestampError(WebhookError):
    """The signature is valid, but its time is too far from now: a replayed request, or a wrong clock."""


class MalformedError(WebhookError):
    """The request does not have the form of a delivery."""


@dataclass(frozen=True)
class Event:
    """The event of a delivery."""

    id: str
    type: str
    #: When the event happened, in UTC.
    timestamp: datetime
    #: The resource that the event is about; empty if there is none.
    resource_id: str
    #: The data of the publisher. A number that a float would round is a Decimal.
    data: Any
    #: The ID of the delivery. It is the same for all attempts, so use it to skip duplicates.
    delivery: str
    #: The number of the attempt, from 1; 0 if unknown. It is not signed.
    attempt: int
    #: The signed text.
    payload: bytes


def verify_webhook(
    payload: bytes,
    headers: Mapping[str, str],
    secrets: str | Sequence[str],
    *,
    tolerance: float | None = DEFAULT_TOLERANCE,
    accept_plain: bool = False,
    now: float | None = None,
) -> Event:
    """Verify a delivery and return its event.

    `payload` is the body of a POST, byte for byte, or the result of `query_payload` for a GET.
    During a rotation, pass the old and the new secret; their order makes no difference.
    `tolerance=None` turns the check of the time off, for stored requests.
    `accept_plain` accepts a request that has `x-service-signature` and no Standard Webhooks header.
    Such a request can be replayed at any time.
    """
    keys = [_key(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    if not keys:
        raise SecretError("at least one signing secret is required")
    given = {name.lower(): value for name, value in headers.items()}
    delivery, stamp, signatures = (given.get("webhook-" + name, "") for name in ("id", "timestamp", "signature"))
    if delivery or stamp or signatures:
        signed = f"{delivery}.{stamp}.".encode() + payload
        wanted = [b"v1," + base64.b64encode(_mac(key, signed)) for _, key in keys]
        entries = [entry.encode() for entry in signatures.split(" ")]
        if not _any_equal(entries, wanted):
            raise SignatureError("webhook-signature does not match any of the secrets")
        _check_time(stamp, tolerance, time.time() if now is None else now)
    else:
        _check_plain(payload, given, keys, accept_plain)
        delivery = given.get("x-service-delivery", "")
    return _event(payload, delivery, given.get("x-service-attempt", ""))


def query_payload(query: str) -> bytes:
    """Return the payload of a GET delivery from the query of its URL, still percent-encoded."""
    before, found, after = ("&" + query).rpartition("&payload=")
    if not found:
        raise MalformedError("the query parameter payload is missing")
    return unquote_to_bytes(after.partition("&")[0].replace("+", " "))


def _key(secret: str) -> tuple[bytes, bytes]:
    """Return the keys of the plain and of the standard signature."""
    prefix, found, encoded = secret.partition("whsec_")
    if prefix or not found:
        raise SecretError("a signing secret must start with whsec_")
    try:
        decoded = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        decoded = b""
    if not decoded or base64.b64encode(decoded).decode() != encoded:
        raise SecretError("the part of the signing secret after whsec_ must be base64")
    return secret.encode(), decoded


def _mac(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).digest()


def _any_equal(given: Sequence[bytes], wanted: Sequence[bytes]) -> bool:
    return any([hmac.compare_digest(one, other) for one in given for other in wanted])


def _check_time(stamp: str, tolerance: float | None, now: float) -> None:
    if not stamp.lstrip("-").isdecimal() or not stamp.isascii():
        raise MalformedError("webhook-timestamp must be a number of seconds")
    off = now - int(stamp)
    if tolerance is not None and abs(off) > tolerance:
        raise TimestampError(f"webhook-timestamp is {off:.0f} s before now; the maximum is {tolerance:.0f} s")


def _check_plain(payload: bytes, given: Mapping[str, str], keys: Sequence[tuple[bytes, bytes]], accept: bool) -> None:
    if not accept:
        raise SignatureError("the request must have webhook-id, webhook-timestamp and webhook-signature")
    wanted = [_mac(key, payload).hex().encode() for key, _ in keys]
    entries = [given.get("x-service-signature" + end, "").encode() for end in ("", "-next")]
    if not _any_equal(entries, wanted):
        raise SignatureError("x-service-signature does not match any of the secrets")


def _event(payload: bytes, delivery: str, attempt: str) -> Event:
    try:
        event = _json.loads(payload)
        at = datetime.fromisoformat(event["timestamp"]).astimezone(timezone.utc)
        count = int(attempt) if attempt.isdecimal() else 0
        return Event(event["id"], event["type"], at, event.get("resourceId") or "", event["data"], delivery, count, payload)
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise MalformedError("the payload must be JSON with id, type, timestamp and data") from e
