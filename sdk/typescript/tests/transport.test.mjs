import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { ApiError, Client, InvalidRequestError, NotFoundError, ServerError, TransportError } from "feedmill";

/** Sends one scripted response for each connection, byte for byte. The last one repeats. */
async function scripted(t, ...responses) {
  const requests = [];
  const server = createServer((socket) => {
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0);
      if (end < 0 || text.length < end + 4 + length) return;
      const [line, ...lines] = text.slice(0, end).split("\r\n");
      const headers = Object.fromEntries(lines.map((one) => [one.split(": ")[0].toLowerCase(), one.split(": ")[1]]));
      requests.push({ line, headers, body: text.slice(end + 4) });
      socket.end(responses.length > 1 ? responses.shift() : responses[0]);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${server.address().port}`, requests };
}

const respond = (status, body, ...headers) =>
  [`HTTP/1.1 ${status} X`, `Content-Length: ${Buffer.byteLength(body)}`, "Connection: close", ...headers].join("\r\n") + "\r\n\r\n" + body;
const problem = (status, kind, ...headers) =>
  respond(status, `{"type":"/problems/${kind}","title":"T","status":${status},"detail":"D.","requestId":"r1","errors":[{"parameter":"limit","detail":"bad"}]}`, ...headers);
const busy = problem(503, "unavailable", "Retry-After: 0");
const feed = respond(200, '{"meta":{"url":"/data_feeds/df_1"},"data":{"id":"df_1","columns":[]}}');
const path = { id: "df/1" };

test("retries have the same idempotency key", async (t) => {
  const server = await scripted(t, "", busy, problem(409, "idempotency-in-progress"), feed);
  const made = await new Client(server.url + "/", "fm_x").pauseDataFeed({ path });
  assert.equal(made.id, "df_1");
  assert.deepEqual(new Set(server.requests.map((r) => r.line)), new Set(["POST /data_feeds/df%2F1/pause HTTP/1.1"]));
  assert.equal(server.requests.length, 4);
  assert.equal(new Set(server.requests.map((r) => r.headers["idempotency-key"])).size, 1);
  assert.match(server.requests[0].headers["idempotency-key"], /^[0-9a-f]{32}$/);
  assert.equal(server.requests[0].headers["authorization"], "Bearer fm_x");
});

test("retries are bounded", async (t) => {
  const server = await scripted(t, busy);
  await assert.rejects(new Client(server.url, "fm_x", { retries: 1 }).me(), ServerError);
  assert.equal(server.requests.length, 2);
  const later = await scripted(t, problem(503, "unavailable", "Retry-After: 31"), feed);
  await assert.rejects(new Client(later.url, "fm_x").me(), (e) => e.retryAfter === 31);
  assert.equal(later.requests.length, 1);
});

test("other errors are not retried", async (t) => {
  for (const response of [problem(400, "invalid-request"), problem(409, "conflict"), problem(507, "no-room")]) {
    const server = await scripted(t, response, feed);
    await assert.rejects(new Client(server.url, "fm_x").pauseDataFeed({ path }), ApiError);
    assert.equal(server.requests.length, 1);
  }
  const server = await scripted(t, busy, feed);
  await assert.rejects(new Client(server.url, "fm_x").changeDataFeed({ path, body: { name: "n" } }), ServerError);
  assert.equal(server.requests.length, 1);
});

test("problem documents are typed", async (t) => {
  const server = await scripted(t, problem(400, "invalid-request"));
  await assert.rejects(new Client(server.url, "fm_x").me(), (e) => {
    assert.ok(e instanceof InvalidRequestError && e.name === "InvalidRequestError");
    assert.deepEqual([e.status, e.kind, e.detail, e.requestId], [400, "invalid-request", "D.", "r1"]);
    assert.deepEqual(e.errors, [{ parameter: "limit", detail: "bad" }]);
    assert.equal(e.message, "T (400): D.\n  limit: bad\n  request ID: r1");
    return true;
  });
  const other = await scripted(t, respond(404, "<html>"));
  await assert.rejects(new Client(other.url, "fm_x").me(), (e) => e instanceof NotFoundError && /not from Feedmill/.test(e.message));
});

test("redirects are not followed", async (t) => {
  const other = await scripted(t, feed);
  const server = await scripted(t, respond(302, "", `Location: ${other.url}/me`));
  await assert.rejects(new Client(server.url, "fm_x", { retries: 0 }).me(), TransportError);
  assert.equal(other.requests.length, 0);
});

test("a response that ends early throws", async (t) => {
  const row = '{"a":1}\n';
  for (const start of [
    `HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n${row}\r\n`,
    `HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n${row}`,
    `HTTP/1.1 200 X\r\nContent-Length: 16\r\n\r\n${row}`,
  ]) {
    const server = await scripted(t, feed, start);
    const read = async () => {
      for await (const one of new Client(server.url, "fm_x").rows("df_1")) assert.deepEqual(one, { a: 1 });
    };
    await assert.rejects(read(), TransportError);
    const json = await scripted(t, start.replaceAll("{", "["));
    await assert.rejects(new Client(json.url, "fm_x", { retries: 0 }).me(), TransportError);
  }
});

test("lines can span chunks and characters", async (t) => {
  const bytes = Buffer.from('{"a":"é"}\n{"a":2}\n{"a":3}');
  const chunks = Array.from(bytes, (byte) => Buffer.concat([Buffer.from("1\r\n"), Buffer.from([byte]), Buffer.from("\r\n")]));
  const whole = Buffer.concat([Buffer.from("HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n"), ...chunks, Buffer.from("0\r\n\r\n")]);
  const server = await scripted(t, feed, whole);
  const rows = [];
  for await (const one of new Client(server.url, "fm_x").rows("df_1")) rows.push(one);
  assert.deepEqual(rows, [{ a: "é" }, { a: 2 }, { a: 3 }]);
});

test("only numbers are converted", async (t) => {
  const columns = '[{"name":"d","type":"decimal"},{"name":"n","type":"number"},{"name":"i","type":"integer"}]';
  const record = respond(200, `{"meta":{"url":"x"},"data":{"id":"df_1","columns":${columns}}}`);
  const server = await scripted(t, record, respond(200, '{"d":1,"n":2,"i":3}\n{"d":"007","n":null,"i":"3"}\n{"d":1.50,"n":0.5,"i":2.5,"_before":{"i":1}}\n'));
  const rows = [];
  for await (const one of new Client(server.url, "fm_x").rows("df_1")) rows.push(one);
  assert.deepEqual(rows, [{ d: "1", n: 2, i: 3n }, { d: "007", n: null, i: "3" }, { d: "1.50", n: 0.5, i: "2.5", _before: { i: 1 } }]);
});

test("lists iterate over all pages", async (t) => {
  const server = await scripted(t, respond(200, '[{"id":"a"}]', 'Link: </keys?limit=1&cursor=x%2By>; rel="next"'), respond(200, '[{"id":"b"}]'));
  const ids = [];
  for await (const key of new Client(server.url, "fm_x").listKeys({ query: { limit: 1, revoked: true } })) ids.push(key.id);
  assert.deepEqual(ids, ["a", "b"]);
  assert.deepEqual(server.requests.map((r) => r.line.split(" ")[1]), ["/keys?limit=1&revoked=true", "/keys?limit=1&cursor=x%2By"]);
});

test("a call can be aborted", async (t) => {
  const server = await scripted(t, busy);
  const controller = new AbortController();
  const call = new Client(server.url, "fm_x").me({ signal: controller.signal });
  controller.abort(new Error("enough"));
  await assert.rejects(call, /enough/);
});

test("arguments are checked", async () => {
  for (const server of ["127.0.0.1:8080", "file:///etc", "https://x?y=1"]) assert.throws(() => new Client(server, "fm_x"), TypeError);
  await assert.rejects(new Client("http://127.0.0.1:1", "fm_x").getDataFeed({ path: {} }), /path.id is required/);
});
