import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { ExactNumber, MalformedError, SecretError, SignatureError, TimestampError, queryPayload, verifyWebhook } from "feedmill";

// The example of the Standard Webhooks specification.
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const other = "whsec_" + Buffer.alloc(32, "x").toString("base64");
const payload = '{"id":"evt_1","type":"metric.created","timestamp":"2026-11-15T12:00:00.000Z","resourceId":"m_ü","data":{"n":0.1000000000000000055,"i":9007199254740993}}';
const now = 1_800_000_000_000;

function signed(secret, at = now / 1000, delivery = "dlv_1") {
  const mac = createHmac("sha256", Buffer.from(secret.slice(6), "base64")).update(`${delivery}.${at}.${payload}`).digest("base64");
  return { "Webhook-Id": delivery, "Webhook-Timestamp": String(at), "Webhook-Signature": `v1,${mac}`, "X-Service-Attempt": "2" };
}

test("a known signature", async () => {
  const headers = { "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330", "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" };
  const at = { now: 1614265330_000 };
  await assert.rejects(verifyWebhook('{"test": 2432232314}', headers, secret, at), MalformedError); // signed, but not an event
  await assert.rejects(verifyWebhook('{"test": 2432232315}', headers, secret, at), SignatureError);
});

test("the event", async () => {
  for (const headers of [signed(secret), new Headers(signed(secret)), { ...signed(secret), "x-other": ["a", "b"] }]) {
    const event = await verifyWebhook(Buffer.from(payload), headers, secret, { now });
    assert.deepEqual(event, {
      id: "evt_1", type: "metric.created", timestamp: new Date("2026-11-15T12:00:00Z"), resourceId: "m_ü", delivery: "dlv_1", attempt: 2, payload,
      data: { n: new ExactNumber("0.1000000000000000055"), i: 9007199254740993n },
    });
  }
});

test("a rotation", async () => {
  const both = signed(secret);
  both["Webhook-Signature"] += " v1a,x " + signed(other)["Webhook-Signature"];
  for (const secrets of [secret, other, [other, secret]]) await verifyWebhook(payload, both, secrets, { now });
  await assert.rejects(verifyWebhook(payload, signed(other), secret, { now }), SignatureError);
});

test("forgeries", async () => {
  for (const change of [{ "Webhook-Id": "dlv_2" }, { "Webhook-Timestamp": String(now / 1000 + 1) }, { "Webhook-Signature": "" }, { "Webhook-Signature": "v1," }, { "Webhook-Signature": "v1, ü v1" }]) {
    await assert.rejects(verifyWebhook(payload, { ...signed(secret), ...change }, secret, { now }), SignatureError);
  }
  await assert.rejects(verifyWebhook(payload + " ", signed(secret), secret, { now }), SignatureError);
});

test("the time", async () => {
  for (const off of [-300, 300]) await verifyWebhook(payload, signed(secret, now / 1000 + off), secret, { now });
  for (const off of [-301, 301]) {
    await assert.rejects(verifyWebhook(payload, signed(secret, now / 1000 + off), secret, { now }), TimestampError);
    await verifyWebhook(payload, signed(secret, now / 1000 + off), secret, { now, tolerance: null });
  }
  await assert.rejects(verifyWebhook(payload, signed(secret, "soon"), secret, { now }), MalformedError);
});

test("plain signatures", async () => {
  const headers = { "x-service-signature": "0".repeat(64), "x-service-signature-next": createHmac("sha256", secret).update(payload).digest("hex"), "x-service-delivery": "dlv_1" };
  await assert.rejects(verifyWebhook(payload, headers, secret), SignatureError);
  assert.equal((await verifyWebhook(payload, headers, secret, { acceptPlain: true })).delivery, "dlv_1");
  await assert.rejects(verifyWebhook(payload, headers, other, { acceptPlain: true }), SignatureError);
  await assert.rejects(verifyWebhook(payload, { ...headers, "webhook-id": "x" }, secret, { acceptPlain: true }), SignatureError);
});

test("secrets", async () => {
  for (const bad of ["", "x", "whsec_", "whsec_a", "whsec_YQ==\n", "whsec_Y Q==", "xwhsec_YQ==", []]) {
    await assert.rejects(verifyWebhook(payload, signed(secret), bad), (e) => e instanceof SecretError && !e.message.includes("YQ"));
  }
});

test("the payload of a GET", () => {
  assert.equal(queryPayload("?payload=a&x=%zz;&payload=%7B%22a%22%3A%20%22%C3%BC%22%7D&y"), '{"a": "ü"}');
  assert.throws(() => queryPayload("xpayload=1"), MalformedError);
  assert.throws(() => queryPayload("payload=%zz"), MalformedError);
});
