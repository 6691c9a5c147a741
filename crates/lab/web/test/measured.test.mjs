// Measurements over the plots, without a browser.
import assert from "node:assert/strict";
import test from "node:test";
import { isParquet, readMeasurements, withMeasurements } from "../src/measured.js";

const line = { of: 0, engine: 0, kind: "main", v: [1] };
const panel = (title, unit, kind, subjects) => ({ title, unit, kind, subjects, lines: [line] });
const plots = (...panels) => ({ id: "x", points: [{ engines: ["theory"], axes: [[0, 1, 1]], panels }] });
const measured = (of) => ({ start: 0.5, step: 0.5, n: 2, of });

test("a group gets the mean of its flows in the plot's unit, and a link its own values", () => {
  const of = { throughput: { "flow a.1": [1e6, null], "flow a.2": [3e6, 5e6], "flow b": [9e6, 9e6] }, utilisation: { "link bottleneck": [0.5, 1] } };
  const { points } = withMeasurements(plots(panel("Throughput of a flow", "Mbps", "group", ["a", "c"]), panel("Utilisation", "%", "link", ["bottleneck"]), panel("Decrease factor", "%", "aggregate", ["x"])), measured(of));
  const [{ engines, axes, panels }] = points;
  assert.deepEqual(engines, ["theory", "live"]);
  assert.deepEqual(axes[1], [0.5, 0.5, 2]);
  assert.deepEqual(panels[0].lines, [line, { of: 0, engine: 1, kind: "main", v: [2, 5] }]);
  assert.deepEqual(panels[1].lines[1].v, [50, 100]);
  assert.deepEqual(panels[2].lines, [line]);
});

test("flows of other names belong to the only group, and to no one of several", () => {
  const of = { rtt: { "flow web": [0.02, 0.04] } };
  const only = withMeasurements(plots(panel("Round-trip time", "ms", "group", ["a"])), measured(of));
  assert.deepEqual(only.points[0].panels[0].lines[1].v, [20, 40]);
  const several = plots(panel("Round-trip time", "ms", "group", ["a", "b"]));
  assert.equal(withMeasurements(several, measured(of)), several);
});

test("what is no table of a run is refused", async () => {
  const bytes = new TextEncoder().encode("PAR1 damaged");
  assert.ok(isParquet(bytes));
  assert.ok(!isParquet(new TextEncoder().encode("duration = 1")));
  await assert.rejects(readMeasurements("x.parquet", bytes.buffer), /x\.parquet is not the series of a run: /);
});
