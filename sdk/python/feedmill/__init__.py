"""Feedmill for Python: a typed client of the API, and verification of webhooks.

It needs only the standard library.
"""

from ._transport import Body, Response
from .client import Client, Row
from .errors import (
    ApiError,
    ConflictError,
    Fault,
    FeedmillError,
    ForbiddenError,
    GoneError,
    InvalidRequestError,
    NotFoundError,
    RateLimitedError,
    ServerError,
    TooLargeError,
    TransportError,
    UnauthenticatedError,
    UnprocessableError,
    UnsupportedFormatError,
)
from .webhook import (
    Event,
    MalformedError,
    SecretError,
    SignatureError,
    TimestampError,
    WebhookError,
    query_payload,
    verify_webhook,
)

__all__ = [
    "ApiError",
    "Body",
    "Client",
    "ConflictError",
    "Event",
    "Fault",
    "FeedmillError",
    "ForbiddenError",
    "GoneError",
    "InvalidRequestError",
    "MalformedError",
    "NotFoundError",
    "RateLimitedError",
    "Response",
    "Row",
    "SecretError",
    "ServerError",
    "SignatureError",
    "TimestampError",
    "TooLargeError",
    "TransportError",
    "UnauthenticatedError",
    "UnprocessableError",
    "UnsupportedFormatError",
    "WebhookError",
    "query_payload",
    "verify_webhook",
]
