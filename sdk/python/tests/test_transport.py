from __future__ import annotations

import io
import unittest
from decimal import Decimal
from unittest import mock

import feedmill
from scripted import ScriptedServer, problem, response

BUSY = problem(503, "unavailable", "Retry-After: 7")
FEED = response(200, '{"meta":{"url":"/data_feeds/df_1"},"data":{"id":"df_1","columns":[]}}')


class TransportTest(unittest.TestCase):
    def setUp(self) -> None:
        patch = mock.patch("time.sleep")
        self.sleep = patch.start()
        self.addCleanup(patch.stop)

    def test_retries_with_the_same_idempotency_key(self) -> None:
        with ScriptedServer(b"", BUSY, problem(429, "rate", "Retry-After: 2"), problem(409, "idempotency-in-progress"), FEED) as server:
            client = feedmill.Client(server.url + "/", "fm_x")
            self.assertEqual(client.pause_data_feed("df/1")["id"], "df_1")
        self.assertEqual({r[0] for r in server.requests}, {"POST /data_feeds/df%2F1/pause HTTP/1.1"})
        self.assertEqual(len(server.requests), 5)
        keys = {r[1]["idempotency-key"] for r in server.requests}
        self.assertEqual(len(keys), 1)
        self.assertEqual({r[1]["authorization"] for r in server.requests}, {"Bearer fm_x"})
        waits = [call.args[0] for call in self.sleep.call_args_list]
        self.assertTrue(0.125 <= waits[0] <= 0.25 and waits[1:3] == [7, 2] and 1 <= waits[3] <= 2, waits)

    def test_retries_are_bounded(self) -> None:
        with ScriptedServer(BUSY) as server, self.assertRaises(feedmill.ServerError) as raised:
            feedmill.Client(server.url, "fm_x", retries=2).me()
        self.assertEqual((len(server.requests), raised.exception.retry_after), (3, 7))
        with ScriptedServer(problem(503, "unavailable", "Retry-After: 31"), FEED) as server, self.assertRaises(feedmill.ServerError):
            feedmill.Client(server.url, "fm_x").me()
        self.assertEqual(len(server.requests), 1)

    def test_does_not_retry(self) -> None:
        for status, kind in ((400, "invalid-request"), (409, "conflict"), (507, "no-room")):
            with ScriptedServer(problem(status, kind), FEED) as server, self.assertRaises(feedmill.ApiError):
                feedmill.Client(server.url, "fm_x").pause_data_feed("df_1")
            self.assertEqual(len(server.requests), 1)
        with ScriptedServer(BUSY, FEED) as server, self.assertRaises(feedmill.ServerError):
            feedmill.Client(server.url, "fm_x").change_data_feed("df_1", {"name": "n"})
        self.assertEqual(len(server.requests), 1)

    def test_sends_a_file_again(self) -> None:
        with ScriptedServer(BUSY, FEED) as server:
            data = io.BytesIO(b"xxid\n1\n")
            data.seek(2)
            feedmill.Client(server.url, "fm_x").replace_data_feed("df_1", data, content_type="text/csv", headers={"Content-Length": "5"})
        self.assertEqual([r[2] for r in server.requests], [b"id\n1\n"] * 2)

    def test_a_refused_connection(self) -> None:
        with ScriptedServer(FEED) as server:
            pass
        with self.assertRaises(feedmill.TransportError):
            feedmill.Client(server.url, "fm_x").me()
        self.assertEqual(self.sleep.call_count, 4)

    def test_problem_documents_are_typed(self) -> None:
        with ScriptedServer(problem(400, "invalid-request")) as server, self.assertRaises(feedmill.InvalidRequestError) as raised:
            feedmill.Client(server.url, "fm_x").me()
        e = raised.exception
        self.assertEqual((e.status, e.kind, e.detail, e.request_id), (400, "invalid-request", "D.", "r1"))
        self.assertEqual(e.errors, [feedmill.Fault("bad", parameter="limit")])
        self.assertEqual(str(e), "T (400): D.\n  limit: bad\n  request ID: r1")
        with ScriptedServer(response(404, "<html>")) as server, self.assertRaisesRegex(feedmill.NotFoundError, "not from Feedmill"):
            feedmill.Client(server.url, "fm_x").me()

    def test_does_not_follow_redirects(self) -> None:
        with ScriptedServer(FEED) as other, ScriptedServer(response(302, "", f"Location: {other.url}/me")) as server:
            with self.assertRaises(feedmill.ApiError):
                feedmill.Client(server.url, "fm_x").me()
        self.assertEqual(other.requests, [])

    def test_a_response_that_ends_early_raises(self) -> None:
        row = b'{"a":1}\n'
        for start in (
            b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n" + row + b"\r\n",
            b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n" + row,
            b"HTTP/1.1 200 X\r\nContent-Length: 16\r\n\r\n" + row,
        ):
            with ScriptedServer(FEED, start) as server:
                rows = feedmill.Client(server.url, "fm_x").rows("df_1")
                self.assertEqual(next(rows), {"a": 1})
                with self.assertRaises(feedmill.TransportError):
                    next(rows)
            with ScriptedServer(start) as server, self.assertRaises(feedmill.TransportError):
                with feedmill.Client(server.url, "fm_x", retries=0).read_data_feed("df_1") as whole:
                    whole.read()

    def test_lines_across_chunks(self) -> None:
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (b'{"a":', b'1}\n{"a":2}\n{"', b'a":3}')) + b"0\r\n\r\n"
        with ScriptedServer(FEED, b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n" + body) as server:
            self.assertEqual(list(feedmill.Client(server.url, "fm_x").rows("df_1")), [{"a": 1}, {"a": 2}, {"a": 3}])

    def test_only_numbers_are_converted(self) -> None:
        columns = '[{"name":"d","type":"decimal"},{"name":"n","type":"number"},{"name":"i","type":"integer"}]'
        feed = response(200, '{"meta":{"url":"x"},"data":{"id":"df_1","columns":' + columns + "}}")
        rows = '{"d":1,"n":2,"i":3}\n{"d":"007","n":null,"i":true}\n{"d":1.50,"n":0.5,"_before":{"n":1}}\n'
        with ScriptedServer(feed, response(200, rows)) as server:
            found = list(feedmill.Client(server.url, "fm_x").rows("df_1"))
        self.assertEqual(found, [{"d": 1, "n": 2, "i": 3}, {"d": "007", "n": None, "i": True}, {"d": Decimal("1.50"), "n": 0.5, "_before": {"n": 1}}])
        self.assertEqual([type(found[0]["d"]), type(found[0]["n"]), type(found[2]["_before"]["n"])], [Decimal, float, int])

    def test_pages(self) -> None:
        first = response(200, '[{"id":"a"}]', 'Link: </keys?limit=1&cursor=x%2By>; rel="next"')
        with ScriptedServer(first, response(200, '[{"id":"b"}]')) as server:
            keys = feedmill.Client(server.url, "fm_x").list_keys(limit=1, revoked=True)
            self.assertEqual([key["id"] for key in keys], ["a", "b"])
        self.assertEqual([r[0].split()[1] for r in server.requests], ["/keys?limit=1&revoked=true", "/keys?limit=1&cursor=x%2By"])

    def test_server_must_be_a_url(self) -> None:
        for server in ("127.0.0.1:8080", "file:///etc", "https://x?y=1"):
            with self.assertRaises(ValueError):
                feedmill.Client(server, "fm_x")


if __name__ == "__main__":
    unittest.main()
