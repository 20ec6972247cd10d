import assert from "node:assert/strict";
import { test } from "node:test";
import { ExactNumber, parse, stringify } from "feedmill";
import { parseRow } from "../dist/esm/json.js";

test("numbers that JavaScript holds are numbers", () => {
  for (const text of ["0", "-1.5", "9007199254740991", "0.1", "12.50", "1e22", "1e-7", "123456789012345.0", "1e+2"]) {
    assert.equal(parse(text), Number(text), text);
  }
});

test("other numbers keep their digits", () => {
  assert.equal(parse("9007199254740993"), 9007199254740993n);
  assert.equal(parse("-9223372036854775808"), -9223372036854775808n);
  for (const text of ["0.1000000000000000055", "1e400", "12345678901234567890123456789012345.678", "1e-400", "9007199254740993.5"]) {
    const value = parse(`[${text}]`)[0];
    assert.ok(value instanceof ExactNumber, text);
    assert.equal(String(value), text);
    assert.equal(stringify({ value }), `{"value":${text}}`);
  }
});

test("the parser agrees with JSON.parse", () => {
  const long = '"1234567890123456"'; // makes the parser look at every number
  for (const text of [
    `{"a":[1,{"b":null},[]],"é\\u00e9\\"\\\\":"\\ud83d\\ude00\\n","c":true,"d":false,"":{},"s":${long}}`,
    ` { "x" : [ 1 , 2.5e3 , "1234567890123456" ] }\n`,
    `{"__proto__":{"polluted":1},"constructor":"1234567890123456"}`,
    `["\\\\","\\"","1234567890123456","a\\\\\\"b"]`,
    `{"a":1,"a":2,"b":"1234567890123456"}`,
  ]) {
    assert.deepEqual(parse(text), JSON.parse(text));
    assert.equal(stringify(parse(text)), JSON.stringify(JSON.parse(text)));
  }
  assert.equal({}.polluted, undefined);
  for (const text of ["", "{", "[1,]", '{"a"}', "01234567890123456", "tru", '"1234567890123456', "1234567890123456 1", "-", "[1234567890123456", '{"a":1234567890123456,}']) {
    assert.throws(() => parse(text), SyntaxError, text);
  }
});

test("the parser agrees with JSON.parse on random documents", () => {
  let state = 1;
  const random = (n) => (state = (state * 48271) % 2147483647) % n;
  const texts = ["", "a", '"', "\\", "\n\t\u0000", "é", "😀", "\ud800", "__proto__", "1234567890123456", "{}[],:", "\u2028"];
  const make = (depth) => {
    switch (random(depth > 4 ? 5 : 7)) {
      case 0:
        return texts[random(texts.length)] + texts[random(texts.length)];
      case 1:
        return random(2000) - 1000;
      case 2:
        return (random(1e9) / (1 + random(1e6))) * 10 ** (random(25) - 20);
      case 3:
        return random(2) === 0;
      case 4:
        return null;
      case 5:
        return Array.from({ length: random(4) }, () => make(depth + 1));
    }
    return Object.fromEntries(Array.from({ length: random(4) }, () => [texts[random(texts.length)], make(depth + 1)]));
  };
  for (let n = 0; n < 3000; n++) {
    const text = JSON.stringify([make(0), "1234567890123456"], null, random(2));
    assert.deepEqual(parse(text), JSON.parse(text), text);
    assert.equal(stringify(parse(text)), JSON.stringify(JSON.parse(text)));
  }
});

test("columns of a row have their types, nested values do not", () => {
  const number = (text, key) => (key === undefined ? `nested ${text}` : `${key} ${text}`);
  const text = '{"id":1,"meta":{"id":2,"_before":{"id":3}},"list":[4],"_before":{"id":5,"meta":{"id":6}}}';
  assert.deepEqual(parseRow(text, number, true), {
    id: "id 1", meta: { id: "nested 2", _before: { id: "nested 3" } }, list: ["nested 4"], _before: { id: "id 5", meta: { id: "nested 6" } },
  });
  assert.deepEqual(parseRow(text, number, false)._before, { id: "nested 5", meta: { id: "nested 6" } });
});

test("stringify", () => {
  const value = { n: 2n ** 63n, d: new Date(0), u: undefined, list: [undefined, 1], s: "ü\u2028" };
  assert.equal(stringify(value), '{"n":9223372036854775808,"d":"1970-01-01T00:00:00.000Z","list":[null,1],"s":"ü\u2028"}');
  assert.throws(() => stringify(undefined), TypeError);
  assert.throws(() => stringify([NaN]), TypeError);
  assert.throws(() => new ExactNumber("1,5"), SyntaxError);
});
