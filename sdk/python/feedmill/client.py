"""The client of the API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from . import _json
from ._operations import Operations
from ._transport import Response
from .types import DataFeed, RowQuery

#: A row by column names. Integers are int, decimals are Decimal, and numbers are float.
Row = dict[str, Any]

_CONVERTED: dict[str, Callable[[Any], Any]] = {"number": float, "decimal": Decimal}


class Client(Operations):
    """A client for one server and one credential.

    It has a method for each operation of the API, named like its operation ID in snake case.
    Methods return `data` of the response. Methods that start with `list_` iterate over all pages.
    `rows`, `changes` and `query` read typed rows. Threads can share a client.
    """

    def rows(
        self,
        feed: str | DataFeed,
        *,
        fields: str | None = None,
        filter: Sequence[str] | None = None,
        sort: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        version: int | None = None,
    ) -> Iterator[Row]:
        """Stream the rows of a feed. Without `limit` these are all rows, in constant memory.

        A response that ends too early raises TransportError. Column types are those of the feed's record,
        which is fetched first unless `feed` is one.
        """
        query = {"fields": fields, "filter": filter, "sort": sort, "limit": limit, "offset": offset, "version": version}
        return self._rows(feed, "data", query)

    def changes(
        self,
        feed: str | DataFeed,
        *,
        from_: int,
        to: int | None = None,
        fields: str | None = None,
        filter: Sequence[str] | None = None,
    ) -> Iterator[Row]:
        """Stream the rows in which two versions differ, with `_change` and `_before`."""
        return self._rows(feed, "changes", {"from": from_, "to": to, "fields": fields, "filter": filter})

    def query(self, feed: str, query: RowQuery, *, version: int | None = None) -> Iterator[Row]:
        """Stream the result of a query. Integers are int; all other numbers are Decimal."""
        yield from _parsed(self.query_data_feed(feed, query, version=version, format="ndjson"), {}, False)

    def _rows(self, feed: str | DataFeed, what: str, query: Mapping[str, Any]) -> Iterator[Row]:
        record = self.get_data_feed(feed) if isinstance(feed, str) else feed
        convert = {c["name"]: _CONVERTED[c["type"]] for c in record["columns"] if c["type"] in _CONVERTED}
        path = f"/data_feeds/{quote(record['id'], safe='')}/{what}"
        yield from _parsed(self.request("GET", path, {**query, "format": "ndjson"}), convert, what == "changes")


def _parsed(response: Response, convert: Mapping[str, Callable[[Any], Any]], before: bool) -> Iterator[Row]:
    with response:
        for line in response.lines():
            row: Row = _json.loads_exact(line)
            _convert(row, convert)
            if before and isinstance(row.get("_before"), dict):
                _convert(row["_before"], convert)
            yield row


def _convert(row: Row, convert: Mapping[str, Callable[[Any], Any]]) -> None:
    for name, to in convert.items():
        value = row.get(name)
        # A text stays a text: an older version can have another type than the record.
        if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
            row[name] = to(value)
