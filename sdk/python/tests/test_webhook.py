from __future__ import annotations

import base64
import hashlib
import hmac
import unittest
from datetime import datetime, timezone
from decimal import Decimal

import feedmill

# The example of the Standard Webhooks specification.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
KNOWN = {"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330"}
OTHER = "whsec_" + base64.b64encode(b"x" * 32).decode()
EVENT = b'{"id":"evt_1","type":"metric.created","timestamp":"2026-11-15T12:00:00.000Z","resourceId":"m_1","data":{"n":0.1000000000000000055,"i":9007199254740993}}'
NOW = 1_800_000_000


def signed(secret: str, payload: bytes = EVENT, at: int = NOW, delivery: str = "dlv_1") -> dict[str, str]:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"{delivery}.{at}.".encode() + payload, hashlib.sha256).digest()
    return {"Webhook-Id": delivery, "Webhook-Timestamp": str(at), "Webhook-Signature": "v1," + base64.b64encode(mac).decode(), "X-Service-Attempt": "2"}


class WebhookTest(unittest.TestCase):
    def test_known_signature(self) -> None:
        headers = {**KNOWN, "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}
        with self.assertRaises(feedmill.MalformedError):  # the signature is valid; the payload is not an event
            feedmill.verify_webhook(b'{"test": 2432232314}', headers, SECRET, now=1614265330)
        with self.assertRaises(feedmill.SignatureError):
            feedmill.verify_webhook(b'{"test": 2432232315}', headers, SECRET, now=1614265330)

    def test_event(self) -> None:
        event = feedmill.verify_webhook(EVENT, signed(SECRET), SECRET, now=NOW)
        self.assertEqual((event.id, event.type, event.resource_id, event.delivery, event.attempt), ("evt_1", "metric.created", "m_1", "dlv_1", 2))
        self.assertEqual(event.timestamp, datetime(2026, 11, 15, 12, tzinfo=timezone.utc))
        self.assertEqual(event.data, {"n": Decimal("0.1000000000000000055"), "i": 9007199254740993})
        self.assertEqual(event.payload, EVENT)

    def test_rotation(self) -> None:
        both = signed(SECRET)
        both["Webhook-Signature"] += " v1a,x " + signed(OTHER)["Webhook-Signature"]
        for secrets in (SECRET, OTHER, [OTHER, SECRET]):
            feedmill.verify_webhook(EVENT, both, secrets, now=NOW)
        with self.assertRaises(feedmill.SignatureError):
            feedmill.verify_webhook(EVENT, signed(OTHER), SECRET, now=NOW)

    def test_forgeries(self) -> None:
        good = signed(SECRET)
        for change in ({"Webhook-Id": "dlv_2"}, {"Webhook-Timestamp": str(NOW + 1)}, {"Webhook-Signature": ""}, {"Webhook-Signature": "v1,"}, {"Webhook-Signature": "v1, ü v1"}):
            with self.assertRaises(feedmill.SignatureError, msg=str(change)):
                feedmill.verify_webhook(EVENT, {**good, **change}, SECRET, now=NOW)
        with self.assertRaises(feedmill.SignatureError):
            feedmill.verify_webhook(EVENT + b" ", good, SECRET, now=NOW)

    def test_time(self) -> None:
        for off in (-300, 300):
            feedmill.verify_webhook(EVENT, signed(SECRET, at=NOW + off), SECRET, now=NOW)
        for off in (-301, 301):
            with self.assertRaises(feedmill.TimestampError):
                feedmill.verify_webhook(EVENT, signed(SECRET, at=NOW + off), SECRET, now=NOW)
            feedmill.verify_webhook(EVENT, signed(SECRET, at=NOW + off), SECRET, now=NOW, tolerance=None)

    def test_plain(self) -> None:
        headers = {"X-Service-Signature": "0" * 64, "X-Service-Signature-Next": hmac.new(SECRET.encode(), EVENT, hashlib.sha256).hexdigest(), "X-Service-Delivery": "dlv_1"}
        with self.assertRaises(feedmill.SignatureError):
            feedmill.verify_webhook(EVENT, headers, SECRET)
        self.assertEqual(feedmill.verify_webhook(EVENT, headers, SECRET, accept_plain=True).delivery, "dlv_1")
        with self.assertRaises(feedmill.SignatureError):
            feedmill.verify_webhook(EVENT, headers, OTHER, accept_plain=True)
        with self.assertRaises(feedmill.SignatureError):  # a Standard Webhooks header takes precedence
            feedmill.verify_webhook(EVENT, {**headers, "webhook-id": "x"}, SECRET, accept_plain=True)

    def test_secrets(self) -> None:
        for secret in ("", "x", "whsec_", "whsec_a", "whsec_YQ==\n", "xwhsec_YQ=="):
            with self.assertRaises(feedmill.SecretError, msg=secret) as raised:
                feedmill.verify_webhook(EVENT, signed(SECRET), secret)
            self.assertNotIn("YQ", str(raised.exception))
        with self.assertRaises(feedmill.SecretError):
            feedmill.verify_webhook(EVENT, signed(SECRET), [])

    def test_query_payload(self) -> None:
        self.assertEqual(feedmill.query_payload("payload=a&x=%zz;&payload=%7B%22a%22%3A%20%22%C3%BC%22%7D&y"), '{"a": "ü"}'.encode())
        with self.assertRaises(feedmill.MalformedError):
            feedmill.query_payload("xpayload=1")


if __name__ == "__main__":
    unittest.main()
