"""Tests against a real server, which the tests of the program start.

Two workspaces have a key each. FEEDMILL_FLAKY is a proxy that fails first: it responds 503, and
drops the response of the first POST that succeeds.
"""

from __future__ import annotations

import os
import unittest
from decimal import Decimal
from io import BytesIO

import feedmill

WIDE = "12345678901234567890123456789012345.678"
SERVER, FLAKY, ROWS = os.environ["FEEDMILL_SERVER"], os.environ["FEEDMILL_FLAKY"], int(os.environ["FEEDMILL_ROWS"])
KEYS = os.environ["FEEDMILL_KEYS"].split()


class ServerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.clients = [feedmill.Client(SERVER, key) for key in KEYS]

    def test_exact_numbers_in_two_workspaces(self) -> None:
        for number, client in enumerate(self.clients):
            least = -(2**63) + number
            csv = f"id,wide,ratio,note\n{2**63 - 1},{WIDE},2.5e0,a\n{least},-0.001,1e-7,\n"
            feed = client.create_data_feed(csv, type="dataUpload", content_type="text/csv", name="exact", mode="merge", key="id")
            self.assertEqual([c["type"] for c in feed["columns"]], ["integer", "decimal", "number", "text"])
            rows = list(client.rows(feed["id"]))
            self.assertEqual(rows, [
                {"id": 2**63 - 1, "wide": Decimal(WIDE), "ratio": 2.5, "note": "a"},
                {"id": least, "wide": Decimal("-0.001"), "ratio": 1e-7, "note": None},
            ])
            self.assertEqual([type(value) for value in rows[0].values()], [int, Decimal, float, str])
            with client.read_data_feed(feed["id"], format="csv") as raw:
                self.assertIn(WIDE.encode(), raw.read())
            total = client.query(feed["id"], {"fields": [{"field": "wide", "aggregate": "max", "as": "most"}, {"field": "id", "aggregate": "count", "as": "n"}]})
            self.assertEqual(list(total), [{"most": Decimal(WIDE), "n": 2}])
            client.replace_data_feed(feed["id"], f"id,wide,ratio,note\n{least},7,1e-7,b\n", content_type="text/csv")
            (change,) = client.changes(feed["id"], from_=1)
            self.assertEqual((change["_change"], change["wide"], change["_before"]["wide"], type(change["_before"]["ratio"])), ("update", 7, Decimal("-0.001"), float))
            profile = client.read_profile(feed["id"])
            self.assertEqual(profile["columns"][1]["max"], Decimal(WIDE))
        mine = {feed["id"] for feed in self.clients[0].list_data_feeds()}
        with self.assertRaises(feedmill.NotFoundError):
            list(self.clients[0].rows(feed["id"]))
        self.assertNotIn(feed["id"], mine)

    def test_pages(self) -> None:
        for client in self.clients:
            made = [client.create_data_feed([{"n": n}], type="dataUpload", name=f"python page {n}")["id"] for n in range(3)]
            listed = [feed["id"] for feed in client.list_data_feeds(limit=2, q="python page")]
            self.assertEqual(listed, made[::-1])

    def test_retries_have_one_effect(self) -> None:
        client = feedmill.Client(FLAKY, KEYS[0])
        feed = client.create_data_feed(BytesIO(b"id\n1\n"), type="dataUpload", content_type="text/csv", name="python once")
        self.assertEqual(list(client.rows(feed)), [{"id": 1}])
        self.assertEqual([f["id"] for f in client.list_data_feeds(q="python once")], [feed["id"]])
        accepted = client.publish_events({"type": "metric.created", "data": {"n": Decimal("0.1000000000000000055")}})["accepted"]
        self.assertEqual([a["duplicate"] for a in accepted], [False])
        self.assertEqual(self.clients[0].get_event(accepted[0]["id"])["data"], {"n": Decimal("0.1000000000000000055")})

    def test_faults(self) -> None:
        with self.assertRaises(feedmill.InvalidRequestError) as raised:
            list(self.clients[0].list_data_feeds(limit=1000))
        self.assertEqual(raised.exception.errors[0].parameter, "limit")
        with self.assertRaises(feedmill.UnauthenticatedError):
            feedmill.Client(SERVER, "fm_wrong").me()
        with self.assertRaises(feedmill.UnprocessableError):
            self.clients[0].create_data_feed("{", type="dataUpload", content_type="application/json")

    def test_many_rows(self) -> None:
        client = self.clients[1]
        lines = (f"{2**62 + n},{n}.{n:012d}\n" for n in range(ROWS))
        feed = client.create_data_feed("id,value\n" + "".join(lines), type="dataUpload", content_type="text/csv")
        count = 0
        for n, row in enumerate(client.rows(feed)):
            if row["id"] != 2**62 + n or row["value"] != Decimal(f"{n}.{n:012d}"):
                self.fail(f"row {n} is {row}")
            count += 1
        self.assertEqual(count, ROWS)


if __name__ == "__main__":
    unittest.main()
