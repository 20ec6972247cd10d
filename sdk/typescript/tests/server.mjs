// Tests against a real server, which the tests of the program start.
//
// Two workspaces have a key each. FEEDMILL_FLAKY is a proxy that fails first: it responds 503, and
// drops the response of the first POST that succeeds.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, ExactNumber, InvalidRequestError, NotFoundError, UnauthenticatedError, UnprocessableError } from "feedmill";

const { FEEDMILL_SERVER: server, FEEDMILL_FLAKY: flaky, FEEDMILL_KEYS: keys, FEEDMILL_ROWS: count } = process.env;
const clients = keys.split(" ").map((key) => new Client(server, key));
const wide = "12345678901234567890123456789012345.678";
const all = async (rows) => {
  const found = [];
  for await (const row of rows) found.push(row);
  return found;
};

test("exact numbers in two workspaces", async () => {
  const ids = [];
  for (const [number, client] of clients.entries()) {
    const least = -(2n ** 63n) + BigInt(number);
    const body = `id,wide,ratio,note\n${2n ** 63n - 1n},${wide},2.5e0,a\n${least},-0.001,1e-7,\n`;
    const feed = await client.createDataFeed({ query: { type: "dataUpload", name: "exact", mode: "merge", key: "id" }, body, contentType: "text/csv" });
    const path = { id: feed.id };
    ids.push(feed.id);
    assert.deepEqual(feed.columns.map((c) => c.type), ["integer", "decimal", "number", "text"]);
    assert.deepEqual(await all(client.rows(feed.id)), [
      { id: 2n ** 63n - 1n, wide, ratio: 2.5, note: "a" },
      { id: least, wide: "-0.001", ratio: 1e-7, note: null },
    ]);
    const csv = await client.readDataFeed({ path, query: { format: "csv" } });
    assert.ok((await csv.text()).includes(wide));
    const total = client.query(feed.id, { fields: [{ field: "wide", aggregate: "max", as: "most" }, { field: "id", aggregate: "count", as: "n" }, { field: "ratio", aggregate: "max", as: "r" }] });
    assert.deepEqual(await all(total), [{ most: wide, n: "2", r: 2.5 }]);
    await client.replaceDataFeed({ path, body: `id,wide,ratio,note\n${least},7,1e-7,b\n`, contentType: "text/csv" });
    const [change, ...more] = await all(client.changes(feed.id, { from: 1 }));
    assert.deepEqual([change, more], [{ _change: "update", id: least, wide: "7.000", ratio: 1e-7, note: "b", _before: { id: least, wide: "-0.001", ratio: 1e-7, note: null } }, []]);
    const profile = await client.readProfile({ path });
    assert.deepEqual(profile.columns[1].max, new ExactNumber(wide));
  }
  await assert.rejects(all(clients[0].rows(ids[1])), NotFoundError);
  assert.ok(!(await all(clients[0].listDataFeeds())).some((feed) => feed.id === ids[1]));
});

test("nested numbers", async () => {
  const text = '[{"a":[9007199254740993,{"n":0.1000000000000000055},1.5]},{"a":[]}]';
  const feed = await clients[0].createDataFeed({ query: { type: "dataUpload" }, body: text, contentType: "application/json" });
  assert.deepEqual(await all(clients[0].rows(feed)), [{ a: [9007199254740993n, { n: new ExactNumber("0.1000000000000000055") }, 1.5] }, { a: [] }]);
});

test("pages", async () => {
  for (const client of clients) {
    const made = [];
    for (let n = 0; n < 3; n++) made.unshift((await client.createDataFeed({ query: { type: "dataUpload", name: `node page ${n}` }, body: [{ n }] })).id);
    const listed = await all(client.listDataFeeds({ query: { limit: 2, q: "node page" } }));
    assert.deepEqual(listed.map((feed) => feed.id), made);
  }
});

test("retries have one effect", async () => {
  const client = new Client(flaky, keys.split(" ")[0]);
  const feed = await client.createDataFeed({ query: { type: "dataUpload", name: "node once" }, body: new Blob(["id\n1\n"], { type: "text/csv" }) });
  assert.deepEqual(await all(client.rows(feed)), [{ id: 1n }]);
  assert.deepEqual((await all(client.listDataFeeds({ query: { q: "node once" } }))).map((f) => f.id), [feed.id]);
  const { accepted } = await client.publishEvents({ body: { type: "metric.created", data: { n: 9007199254740993n } } });
  assert.deepEqual(accepted.map((a) => a.duplicate), [false]);
  assert.deepEqual((await clients[0].getEvent({ path: { id: accepted[0].id } })).data, { n: 9007199254740993n });
});

test("faults", async () => {
  await assert.rejects(all(clients[0].listDataFeeds({ query: { limit: 1000 } })), (e) => e instanceof InvalidRequestError && e.errors[0].parameter === "limit");
  await assert.rejects(new Client(server, "fm_wrong").me(), UnauthenticatedError);
  await assert.rejects(clients[0].createDataFeed({ query: { type: "dataUpload" }, body: "{", contentType: "application/json" }), UnprocessableError);
});

test("many rows from a stream", async () => {
  const rows = Number(count);
  const decimal = (n) => `${n}.${String(n).padStart(12, "0")}`;
  let next = -1;
  const body = new ReadableStream({
    pull(controller) {
      if (next >= rows) return controller.close();
      let text = next < 0 ? "id,value\n" : "";
      if (next < 0) next = 0;
      for (const end = Math.min(next + 1000, rows); next < end; next++) text += `${2n ** 62n + BigInt(next)},${decimal(next)}\n`;
      controller.enqueue(new TextEncoder().encode(text));
      if (next >= rows) controller.close();
    },
  });
  const feed = await clients[1].createDataFeed({ query: { type: "dataUpload" }, body, contentType: "text/csv" });
  let n = 0;
  for await (const row of clients[1].rows(feed)) {
    if (row.id !== 2n ** 62n + BigInt(n) || row.value !== decimal(n)) assert.fail(`row ${n} is ${row.id}, ${row.value}`);
    n++;
  }
  assert.equal(n, rows);
});
