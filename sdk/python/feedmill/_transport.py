"""HTTP requests with retries."""

from __future__ import annotations

import email.utils
import http.client
import io
import random
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, BinaryIO, Protocol, Union

from . import _json
from .errors import ApiError, TransportError, api_error

#: The data of an upload. A file must be seekable, so that a retry can send it again.
Body = Union[bytes, bytearray, str, BinaryIO]

_FIRST_WAIT = 0.25
_LONGEST_WAIT = 30.0
_RETRIED = {429, 500, 502, 503, 504}
_NEXT = re.compile(r'<([^>]*)>\s*;[^,]*\brel="?next"?')
_CHUNK = 64 << 10


class _Readable(Protocol):
    def read(self, size: int = ..., /) -> bytes: ...


class Response:
    """A response whose body is read as it arrives. Use it in a `with` statement, or close it."""

    def __init__(self, response: http.client.HTTPResponse, request: str) -> None:
        self._response, self._request = response, request
        self.status: int = response.status
        self.headers: Mapping[str, str] = response.headers

    @property
    def next_url(self) -> str | None:
        """The URL of the next page, without the server. None on the last page."""
        found = _NEXT.search(self.headers.get("Link") or "")
        return found[1] if found else None

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes, by default all. A body that ends too early raises TransportError."""
        try:
            return self._response.read(None if size < 0 else size)
        except (OSError, http.client.HTTPException) as e:
            raise self._broken(e) from e

    def chunks(self) -> Iterator[bytes]:
        """Read the body in pieces as they arrive."""
        left = self._response.length  # None if the body is chunked
        while True:
            try:
                chunk = self._response.read1(_CHUNK)
            except (OSError, http.client.HTTPException) as e:
                raise self._broken(e) from e
            if not chunk:
                if left:
                    raise self._broken(http.client.IncompleteRead(b"", left))
                return
            left = None if left is None else left - len(chunk)
            yield chunk

    def lines(self) -> Iterator[bytes]:
        """Read the lines of the body, such as rows of NDJSON, without their line ends."""
        rest: list[bytes] = []
        for chunk in self.chunks():
            first, *more = chunk.split(b"\n")
            rest.append(first)
            if more:
                yield b"".join(rest)
                yield from more[:-1]
                rest = [more[-1]]
        last = b"".join(rest)
        if last:
            yield last

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> Response:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _broken(self, error: Exception) -> TransportError:
        return TransportError(f"{self._request}: the connection failed before the end of the response: {error}")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The API does not redirect, and the key must not reach another server."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Transport:
    """Sends requests to a server. `Client` is the class to use."""

    def __init__(
        self,
        server: str,
        key: str,
        *,
        retries: int = 4,
        timeout: float = 60.0,
        context: ssl.SSLContext | None = None,
        user_agent: str = "feedmill-python",
    ) -> None:
        parts = urllib.parse.urlsplit(server)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
            raise ValueError("server must be a URL such as https://feedmill.example.com")
        if retries < 0:
            raise ValueError("retries must be at least 0")
        self._base = server.rstrip("/")
        self._key, self._retries, self._timeout, self._user_agent = key, retries, timeout, user_agent
        handlers: list[urllib.request.BaseHandler] = [_NoRedirects()]
        if context is not None:
            handlers.append(urllib.request.HTTPSHandler(context=context))
        self._opener = urllib.request.build_opener(*handlers)

    def request(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        *,
        body: Any = None,
        content_type: str | None = None,
        idempotency_key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Send a request and return its response. Retries 429, 5xx and failed connections where that is safe.

        Every POST and PUT has an `Idempotency-Key`, so a retry has no second effect. PATCH is not retried.
        """
        sent = {"User-Agent": self._user_agent, "Accept": "application/json"}
        if self._key:
            sent["Authorization"] = f"Bearer {self._key}"
        if method in ("POST", "PUT"):
            sent["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
        data = _encoded(body, content_type, sent)
        sent.update(headers or {})
        url = self._base + path
        if query:
            url += _query(query, "&" if "?" in path else "?")
        tries = self._retries + 1 if method != "PATCH" and (not hasattr(data, "read") or _seekable(data)) else 1
        start = data.tell() if tries > 1 and hasattr(data, "read") else 0
        wait = _FIRST_WAIT
        for attempt in range(1, tries + 1):
            if attempt > 1 and hasattr(data, "read"):
                data.seek(start)
            try:
                return self._try(method, url, data, sent)
            except ApiError as e:
                in_progress = e.status == 409 and e.kind == "idempotency-in-progress" and attempt > 1
                if attempt == tries or not (e.status in _RETRIED or in_progress) or (e.retry_after or 0) > _LONGEST_WAIT:
                    raise
                pause = max(e.retry_after or 0, wait * random.uniform(0.5, 1))
            except TransportError as e:
                if attempt == tries or isinstance(e.__cause__, ssl.SSLCertVerificationError):
                    raise
                pause = wait * random.uniform(0.5, 1)
            time.sleep(pause)
            wait *= 2
        raise AssertionError("unreachable")

    def _try(self, method: str, url: str, data: Any, headers: Mapping[str, str]) -> Response:
        name = f"{method} {urllib.parse.urlsplit(url).path}"
        request = urllib.request.Request(url, data=data, headers=dict(headers), method=method)
        try:
            return Response(self._opener.open(request, timeout=self._timeout), name)
        except urllib.error.HTTPError as e:
            with e:
                try:
                    document = _json.loads(e.read())
                except (ValueError, OSError, http.client.HTTPException):
                    document = None
                raise api_error(e.code, document, _retry_after(e.headers.get("Retry-After"))) from None
        except urllib.error.URLError as e:
            cause = e.reason if isinstance(e.reason, Exception) else e
            raise TransportError(f"{name}: {e.reason}") from cause
        except (OSError, http.client.HTTPException) as e:
            raise TransportError(f"{name}: {e or type(e).__name__}") from e

    def _raw(self, method: str, path: str, query: Mapping[str, Any], **options: Any) -> Response:
        return self.request(method, path, query, **options)

    def _none(self, method: str, path: str, query: Mapping[str, Any], **options: Any) -> None:
        self.request(method, path, query, **options).close()

    def _data(self, method: str, path: str, query: Mapping[str, Any], **options: Any) -> Any:
        with self.request(method, path, query, **options) as response:
            value = _json.loads(response.read())
        if isinstance(value, dict) and value.keys() == {"data", "meta"}:
            return value["data"]
        return value

    def _list(self, method: str, path: str, query: Mapping[str, Any], **options: Any) -> Iterator[Any]:
        target: str | None = path + _query(query, "?")
        while target is not None:
            with self.request(method, target, **options) as response:
                page = _json.loads(response.read())
                target = response.next_url
            yield from page


def _encoded(body: Any, content_type: str | None, headers: dict[str, str]) -> Any:
    """Return the bytes or the file to send, and set its content type."""
    if body is None:
        return None
    raw = isinstance(body, (bytes, bytearray, str)) or hasattr(body, "read")
    headers["Content-Type"] = content_type or ("application/octet-stream" if raw else "application/json")
    if isinstance(body, str):
        return body.encode()
    return body if raw else _json.dumps(body).encode()


def _seekable(file: Any) -> bool:
    return bool(isinstance(file, io.IOBase) and file.seekable())


def _query(query: Mapping[str, Any], separator: str) -> str:
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        if value is None:
            continue
        several: Sequence[Any] = value if isinstance(value, (list, tuple)) else [value]
        pairs += [(name, str(one).lower() if isinstance(one, bool) else str(one)) for one in several]
    return separator + urllib.parse.urlencode(pairs) if pairs else ""


def _retry_after(text: str | None) -> float | None:
    if not text:
        return None
    if text.isdigit():
        return float(text)
    try:
        return max(email.utils.parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError):
        return None
