import assert from "node:assert/strict";
import test from "node:test";
import { numbers, positionOf, range, valueAt } from "../src/numbers.js";
import { completions, place } from "../src/complete.js";

const text = `title = "x # 3" # n = 4
[topology.dumbbell]
rate = "10 Mbps" # was rate = "20 Mbps"
queue = { discipline = "red", limit = "100 pkt", gentle = 1 }
[flow.a]
controller = { name = "vegas", alpha = "3 pkt" }
[sweep.x]
values = 3
`;

test("numbers have paths, units and places, and comments have none", () => {
  const found = numbers(text);
  assert.deepEqual(found.map(({ path, value, unit }) => [path, value, unit]), [
    ["topology.dumbbell.rate", 10, "Mbps"],
    ["topology.dumbbell.limit", 100, "pkt"],
    ["topology.dumbbell.gentle", 1, ""],
    ["flow.a.alpha", 3, "pkt"],
  ]);
  for (const { from, to, text: digits } of found) assert.equal(text.slice(from, to), digits);
});

test("a slider comes back to where it was", () => {
  for (const digits of ["10", "0.5", "100", "3", "0"]) {
    const limits = range(Number(digits), digits);
    assert.equal(valueAt(positionOf(Number(digits), limits), limits), Number(digits));
    for (const position of [0, 0.3, 1]) assert.ok(Number.isFinite(valueAt(position, limits)));
  }
});

const schema = {
  $ref: "#/$defs/file",
  $defs: {
    file: { properties: { flow: { additionalProperties: { $ref: "#/$defs/flow" } }, duration: {} } },
    flow: { properties: { controller: { anyOf: [{ enum: ["vegas", "reno"] }, { $ref: "#/$defs/named" }] }, start: {} } },
    named: { properties: { name: { enum: ["vegas", "reno"] }, gain: {} } },
  },
};

test("completions are those of the table", () => {
  const labels = (before) => completions(schema, before, before.length)?.options.map((o) => o.label);
  assert.deepEqual(labels("du"), ["flow", "duration"]);
  assert.deepEqual(labels("[flow.a]\nst"), ["controller", "start"]);
  assert.deepEqual(labels('[flow.a]\ncontroller = "ve'), ["vegas", "reno"]);
  assert.deepEqual(labels('[flow.a]\ncontroller = { name = "'), ["vegas", "reno"]);
  assert.deepEqual(labels('[flow.a]\ncontroller = { name = "vegas", g'), ["name", "gain"]);
  assert.equal(labels('[nothing]\nx'), undefined);
  assert.deepEqual(place("[a.b]\nc = { d = 1 }\n", 21).table, ["a", "b"]);
});
