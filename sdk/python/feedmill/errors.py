"""The errors of the package. Every one of them is a `FeedmillError`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class FeedmillError(Exception):
    """The base class of all errors of the package."""


class TransportError(FeedmillError):
    """The server did not respond, or the connection failed before the end of the response."""


@dataclass(frozen=True)
class Fault:
    """One part of a request that is not valid. Exactly one of the positions is usually set."""

    detail: str
    pointer: str = ""
    parameter: str = ""
    header: str = ""

    def __str__(self) -> str:
        return f"{self.pointer or self.parameter or self.header}: {self.detail}"


class ApiError(FeedmillError):
    """A problem document (RFC 9457) that the server returned."""

    def __init__(self, status: int, document: dict[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        #: The whole problem document.
        self.document = document
        #: The stable type, such as ``/problems/not-found``.
        self.type: str = document.get("type", "about:blank")
        self.title: str = document.get("title", "")
        self.detail: str = document.get("detail", "")
        #: The ID to report to the operator. Only 5xx responses have one.
        self.request_id: str | None = document.get("requestId")
        #: The seconds to wait before a retry, if the server set them.
        self.retry_after = retry_after
        self.errors = [
            Fault(e.get("detail", ""), e.get("pointer", ""), e.get("parameter", ""), e.get("header", ""))
            for e in document.get("errors", [])
        ]
        super().__init__(status, document, retry_after)

    @property
    def kind(self) -> str:
        """The last part of `type`, such as ``not-found``."""
        return self.type.rpartition("/")[2]

    def __str__(self) -> str:
        lines = [f"{self.title} ({self.status}): {self.detail}", *(str(e) for e in self.errors)]
        if self.request_id:
            lines.append(f"request ID: {self.request_id}")
        return "\n  ".join(lines)


class InvalidRequestError(ApiError):
    """400: the request is not valid. `errors` lists every fault."""


class UnauthenticatedError(ApiError):
    """401: the credential is missing or not valid."""


class ForbiddenError(ApiError):
    """403: the credential lacks a scope."""


class NotFoundError(ApiError):
    """404: the resource does not exist in this workspace."""


class ConflictError(ApiError):
    """409: the request conflicts with the state of the resource, or a quota is reached."""


class GoneError(ApiError):
    """410: the version is no longer stored."""


class TooLargeError(ApiError):
    """413: the request is too large."""


class UnsupportedFormatError(ApiError):
    """415: the format is not supported."""


class UnprocessableError(ApiError):
    """422: the data cannot be modelled."""


class RateLimitedError(ApiError):
    """429: too many requests. `retry_after` has the seconds to wait."""


class ServerError(ApiError):
    """5xx: the server failed. `request_id` identifies the request in its log."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidRequestError,
    401: UnauthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    413: TooLargeError,
    415: UnsupportedFormatError,
    422: UnprocessableError,
    429: RateLimitedError,
}


def api_error(status: int, document: Any, retry_after: float | None) -> ApiError:
    """Return the error for a status. A response that is not a problem document is from another server."""
    if not isinstance(document, dict) or not isinstance(document.get("title"), str):
        document = {"title": "Unexpected response", "detail": "The response is not from Feedmill. Check the server's address."}
    return _BY_STATUS.get(status, ServerError if status >= 500 else ApiError)(status, document, retry_after)
