const assert = require("node:assert/strict");
const { test } = require("node:test");

test("CommonJS and ES modules export the same names", async () => {
  const required = require("feedmill");
  const imported = await import("feedmill");
  assert.notEqual(required.Client, imported.Client);
  assert.deepEqual(Object.keys(required).sort(), Object.keys(imported).sort());
  assert.equal(typeof required.Client.prototype.listDataFeeds, "function");
  await assert.rejects(required.verifyWebhook("{}", {}, "whsec_YQ=="), required.SignatureError);
});
