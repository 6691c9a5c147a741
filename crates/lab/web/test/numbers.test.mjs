import assert from "node:assert/strict";
import test from "node:test";
import { differences, numbers, positionOf, range, valueAt } from "../src/numbers.js";
import { Drafts } from "../src/drafts.js";
import { completions, place } from "../src/complete.js";
import { linkOf, stateOf } from "../src/link.js";

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
    ["topology.dumbbell.queue.limit", 100, "pkt"],
    ["topology.dumbbell.queue.gentle", 1, ""],
    ["flow.a.controller.alpha", 3, "pkt"],
  ]);
  for (const { from, to, text: digits } of found) assert.equal(text.slice(from, to), digits);
});

test("paths are those of --set, in tables, lists of tables and dotted keys", () => {
  const paths = (text) => numbers(text).map(({ path }) => path);
  const flow = `[flow.a]
access = { rate = "1 Mbps", delay = "5 ms" }
egress = { rate = "2 Mbps", delay = "6 ms" }
each = [
    { start = "1 s" }, # x = 2
    { start = "2 s", access = { delay = "7 ms" } },
]
service.weight = 2
steady = ["1 s", "2 s"]
[[event]]
at = "3 s"
[[event]]
at = "4 s"
`;
  assert.deepEqual(paths(flow), [
    ...["rate", "delay"].map((key) => `flow.a.access.${key}`),
    ...["rate", "delay"].map((key) => `flow.a.egress.${key}`),
    "flow.a.each.1.start",
    "flow.a.each.2.start",
    "flow.a.each.2.access.delay",
    "flow.a.service.weight",
    "event.1.at",
    "event.2.at",
  ]);
  assert.deepEqual(paths('[[link'), []);
  assert.deepEqual(paths('x = { y = "1 s"'), ["x.y"]);
});

test("what a sweep sets has no slider", () => {
  const swept = (set) => `[topology.dumbbell]\nqueue = { limit = "1 BDP" }\n[sweep.b]\nset = ${set}\nvalues = ["1 BDP"]\n`;
  const paths = (set) => numbers(swept(set)).map(({ path }) => path);
  assert.deepEqual(paths('["topology.dumbbell.queue.limit"]'), []);
  assert.deepEqual(paths('"topology.dumbbell.queue.limit"'), []);
  assert.deepEqual(paths('"topology.dumbbell.rate"'), ["topology.dumbbell.queue.limit"]);
});

test("what has a unit goes a decade to either side, and what is counted stays whole", () => {
  assert.equal(valueAt(0, range(1, "1", "BDP")), 0.1);
  assert.equal(valueAt(1, range(1, "1", "BDP")), 10);
  assert.equal(valueAt(0, range(5, "5", "ms")), 0.5);
  assert.equal(valueAt(0, range(3, "3", "pkt")), 1);
  assert.equal(valueAt(0.07, range(4, "4")), 1);
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

test("results are named after the settings in which they differ", () => {
  const lesson = `[topology.dumbbell]\nrate = "10 Mbps"\n[flow.a]\ncontroller = { name = "vegas", alpha = "3 pkt" }\n[flow.b]\ncontroller = { name = "vegas", alpha = "3 pkt" }\n`;
  const one = lesson.replace("3 pkt", "6 pkt");
  const both = lesson.replaceAll("3 pkt", "6 pkt");
  assert.deepEqual(differences([lesson, one]), [["alpha = 3 pkt"], ["alpha = 6 pkt"]]);
  assert.deepEqual(differences([lesson, both])[1], ["a.controller.alpha = 6 pkt", "b.controller.alpha = 6 pkt"]);
  assert.deepEqual(differences([lesson, `${lesson}start = "1 s"\n`]), [["start = default"], ["start = 1 s"]]);
  assert.deepEqual(differences([lesson, `title = "x"\n${lesson}`]), [[], []]);
});

class Memory extends Map {
  getItem = (key) => this.get(key) ?? null;
  setItem = (key, value) => void this.set(key, value);
  removeItem = (key) => void this.delete(key);
}

test("a text is kept while it differs from its base", () => {
  const memory = new Memory();
  const drafts = new Drafts(memory);
  assert.equal(drafts.read("a"), null);
  assert.equal(drafts.write("a", "mine", "theirs", "older"), true);
  assert.deepEqual(new Drafts(memory).read("a"), { text: "mine", from: "older" });
  assert.equal(drafts.read("b"), null);
  assert.equal(drafts.write("a", "theirs", "theirs", "theirs"), true);
  assert.equal(memory.size, 0);
});

test("a browser without storage keeps no text, and says so", () => {
  const full = Object.assign(new Memory(), { setItem: () => { throw new Error("quota"); } });
  for (const storage of [null, full]) {
    const drafts = new Drafts(storage);
    assert.equal(drafts.read("a"), null);
    assert.equal(drafts.write("a", "mine", "theirs", "theirs"), false);
    assert.equal(drafts.write("a", "theirs", "theirs", "theirs"), true);
  }
});

test("a state comes back from an address, and a damaged or huge one is refused with a sentence", async () => {
  const state = { id: "02-vegas", name: "02-vegas", text: "title = \"Grüße\"\n", engines: ["theory", "packet"], point: 2, range: [1, 2.5], hidden: ["group a"] };
  const link = await linkOf(state);
  assert.match(link, /^#s=[A-Za-z0-9_-]+$/);
  assert.deepEqual(await stateOf(link), state);
  assert.equal(await stateOf(""), null);
  assert.equal(await stateOf("#plots"), null);
  for (const bad of [{}, { ...state, engines: ["warp"] }, { ...state, text: 7 }, { ...state, range: [2, 1] }, { ...state, point: -1 }, [], null]) {
    await assert.rejects(stateOf(await linkOf(bad)), /address is damaged/);
  }
  for (const bad of [link.slice(0, -4), `#s=${"A".repeat(50)}`, "#s=", "#s=%%%", `#s=${"x".repeat(2000)}`]) await assert.rejects(stateOf(bad), /address is damaged/);
  // Small in the address, and large when unpacked.
  await assert.rejects(stateOf(await linkOf({ ...state, text: "a".repeat(4_000_000) })), /address is damaged/);
  await assert.rejects(stateOf(`#s=${"A".repeat(1 << 20)}`), /too long/);
});
