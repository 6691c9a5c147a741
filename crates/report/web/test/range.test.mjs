// Tests of the page's ranges: `node --test test/range.test.mjs`, or crates/report/tests/page.rs where there is node.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { alone, beside, csv, decades, ends, extent, marked, quantile, robust, room, suits, ticks, zoomed } from "../src/range.js";

const times = (n, step = 1) => Array.from({ length: n }, (_, i) => (i + 1) * step);

test("quantiles lie between neighbours by proportion", () => {
  assert.equal(quantile([2, 4, 4, 4, 5, 5, 7, 9], 0.9), 7.6);
  assert.equal(quantile([3], 0.99), 3);
});

test("a value without neighbours is alone", () => {
  assert.deepEqual(alone([3]), [0]);
  assert.deepEqual(alone([1, 2, null, 3, NaN, 4, undefined]), [3, 5]);
  assert.deepEqual(alone([1, 2]), []);
  assert.deepEqual(alone(Float64Array.of(NaN, 0, NaN)), [1]);
});

test("an axis has room for its widest label", () => {
  const measure = (label) => 7 * label.length;
  assert.equal(room(["0", "50", "100"], measure, 10, 52), 52);
  assert.equal(room(["50,000", "100,000", null], measure, 10, 52), 59);
  assert.equal(room([], measure, 10, 52), 52);
});

test("a spike at the start does not scale the plot, and is told", () => {
  const x = times(1000);
  const y = x.map((t) => (t <= 5 ? 900 : 10 + (t % 3)));
  const found = robust([{ x, y, role: "line" }], 0, 1000, [500, 1000]);
  assert.deepEqual([found.low, found.high], [10, 12]);
  assert.deepEqual(found.all, [10, 900]);
});

test("a spike of some per cent is cut if it stands far out, a phase is not", () => {
  const x = times(1000);
  const of = (n, v) => robust([{ x, y: x.map((t) => (t <= n ? v : 10 + (t % 3))), role: "line" }], 0, 1000, [500, 1000]);
  assert.equal(of(40, 900).high, 12);
  assert.equal(of(40, 20).high, 20, "not far");
  assert.equal(of(200, 900).high, 900, "not short");
  assert.equal(of(40, -900).low, 10);
});

test("the steady part is never cut", () => {
  const x = times(1000);
  const y = x.map((t) => (t === 700 ? 500 : t === 701 ? -7 : 1));
  const found = robust([{ x, y, role: "line" }], 0, 1000, [500, 1000]);
  assert.deepEqual([found.low, found.high], [-7, 500]);
  // The same spikes elsewhere are cut.
  const early = robust([{ x, y, role: "line" }], 0, 1000, [800, 1000]);
  assert.deepEqual([early.low, early.high], [1, 1]);
  // Only visible lines count.
  const zoomedIn = robust([{ x, y, role: "line" }], 0, 600, [500, 1000]);
  assert.deepEqual(zoomedIn.all, [1, 1]);
});

test("theory's first phase does not scale what was measured", () => {
  const x = times(100);
  const theory = { x, y: x.map((t) => (t <= 8 ? 100 : 2)), role: "model" };
  const packet = { x, y: x.map(() => 2.5), role: "line" };
  assert.equal(robust([theory, packet], 0, 100, [50, 100]).high, 2.5);
  // Alone it is all that there is to see.
  assert.equal(robust([theory], 0, 100, [50, 100]).high, 100);
});

test("nothing is cut for little", () => {
  const x = times(1000);
  const y = x.map((t) => (t === 3 ? 12 : 10));
  assert.equal(robust([{ x, y, role: "line" }], 0, 1000, [500, 1000]).high, 12);
});

test("missing values are nothing", () => {
  const line = { x: [1, 2, 3], y: [null, NaN, undefined], role: "line" };
  assert.equal(robust([line], 0, 3, [0, 3]), null);
  assert.equal(robust([], 0, 3, [0, 3]), null);
  const some = robust([{ ...line, y: [null, 4, null] }], 0, 3, [0, 3]);
  assert.deepEqual([some.low, some.high, some.all], [4, 4, [4, 4]]);
});

test("shares end at all", () => {
  const [bottom, top] = ends(40, 100, { zero: true, most: 100 });
  assert.equal(bottom, 0);
  assert.ok(top > 100 && top <= 102);
  assert.equal(ends(40, 80, { zero: true, most: 100 })[1], 80 * 1.06);
  // Unexpected values are not hidden.
  assert.ok(ends(40, 130, { zero: true, most: 100 })[1] > 130);
});

test("axes have room, and logarithmic ones no zero", () => {
  assert.deepEqual(ends(0, 0, { zero: true }), [0, 1]);
  const [low, high] = ends(10, 20, {});
  assert.ok(low < 10 && low >= 0 && high > 20);
  const log = ends(0, 1000, { log: true, positive: 5 });
  assert.ok(log[0] > 0 && log[0] < 5 && log[1] > 1000);
  assert.ok(ends(0, 0, { log: true })[0] > 0);
  assert.ok(ends(-3, 0, { zero: true })[0] < -3);
});

test("zooming keeps the place of what it is about", () => {
  assert.deepEqual(zoomed([0, 100], 0.5, 80), [40, 90]);
  assert.deepEqual(zoomed([40, 90], 2, 80), [0, 100]);
  assert.deepEqual(zoomed([0, 100], 0.5, 500), [50, 100]);
});

test("ticks are round", () => {
  assert.deepEqual(ticks(0, 50, 5), [0, 10, 20, 30, 40, 50]);
  assert.deepEqual(ticks(0, 0.7, 7), [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]);
  assert.deepEqual(ticks(1, 1, 5), []);
  assert.deepEqual(decades(1, 1e6), [1, 10, 100, 1000, 1e4, 1e5, 1e6]);
  assert.deepEqual(decades(0.015, 0.3), [0.02, 0.05, 0.1, 0.2]);
});

test("no interval is cut off", () => {
  const need = extent([[10, 20], [null, 1]], [[null, 15], [null, 4]], false);
  assert.deepEqual([need.low, need.high], [-3, 35]);
  const log = extent([[10, 0]], [[2, null]], true);
  assert.deepEqual([log.high, log.positive], [12, 8]);
  assert.equal(extent([[null]], [[null]], false), null);
});

test("markers stand apart and only on values", () => {
  const xs = times(100, 5);
  const found = marked(xs, xs.map((x) => (x > 200 && x < 300 ? null : 1)), 90, 0);
  assert.ok(found.length >= 4 && found.every((i) => xs[i] <= 200 || xs[i] >= 300));
  for (let i = 1; i < found.length; i++) assert.ok(xs[found[i]] - xs[found[i - 1]] >= 45);
});

test("categories stand side by side", () => {
  const places = beside(3, 2);
  assert.equal(places.length, 6);
  assert.ok(places.every((x, j) => j === 0 || x > places[j - 1]));
  places.forEach((x, j) => assert.equal(Math.round(x) + 0, Math.floor(j / 2)));
  assert.deepEqual(beside(2, 1), [0, 1]);
});

test("a wide axis is logarithmic, one with zeros cannot be wide", () => {
  assert.deepEqual(suits([[1, 1000]]), { possible: true, wide: true });
  assert.deepEqual(suits([[1, 10]]), { possible: true, wide: false });
  assert.deepEqual(suits([[0, 1000]]), { possible: true, wide: false });
  assert.deepEqual(suits([[-1, 1000]]), { possible: false, wide: false });
});

test("CSV holds any name and no formula", () => {
  const text = csv(["time (s)", 'a "b", c', "=1+1"], [[0.1 + 0.2, null, NaN], [1e-9, -2, 3]]);
  assert.equal(text, `time (s),"a ""b"", c",'=1+1\r\n0.3,,\r\n1e-9,-2,3\r\n`);
  assert.equal(csv(["x"], [["@here"]]), "x\r\n'@here\r\n");
});

// The figures of `accord plot` have the same ranges: ../../src/range.rs is held to this file, too.
test("ranges are those of ranges.json", async () => {
  const cases = JSON.parse(await readFile(new URL("./ranges.json", import.meta.url), "utf8"));
  for (const { lines, from, to, steady, low, high, positive } of cases.robust) {
    const found = robust(lines, from, to, steady);
    assert.deepEqual([found.low, found.high, found.positive], [low, high, positive]);
  }
  for (const { low, high, positive, zero, most, log, ends: expected } of cases.ends) {
    assert.deepEqual(ends(low, high, { zero, most: most ?? undefined, log, positive }), expected);
  }
  for (const { min, max, count, log, ticks: expected } of cases.ticks) {
    assert.deepEqual(ticks(min, max, count, log), expected);
  }
});
