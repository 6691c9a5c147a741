// The module runs as the program does: node --test with ACCORD=the program, after tools/web/build. With ALL=1 packets
// are compared with all recorded experiments as well, which takes an hour.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { load } from "../index.js";

const root = new URL("../../../", import.meta.url);
const read = (path) => readFileSync(new URL(path, root), "utf8");
const engines = await load();
const dir = mkdtempSync(join(tmpdir(), "accord-digests-"));
after(() => rmSync(dir, { recursive: true, force: true }));
const skip = process.env.ACCORD ? false : "needs ACCORD, the path of the program";

/** Runs all points of a scenario in the program and in the module, and returns the number of runs by engine. */
function compare(text, names) {
  writeFileSync(join(dir, "lab.toml"), text);
  const made = spawnSync(process.env.ACCORD, ["run", "lab.toml", "--json", "--quiet", "--fresh", ...(names ? ["--engine", names.join()] : [])], { cwd: dir, encoding: "utf8", maxBuffer: 1 << 28 });
  // An expectation that fails is no concern of this test.
  assert.ok(made.stdout.startsWith("{"), made.stderr);
  const differ = [];
  const runs = { theory: 0, fluid: 0, packet: 0 };
  for (const [point, native] of JSON.parse(made.stdout).points.entries()) {
    for (const { engine, digest } of native.runs.filter(({ engine }) => engine in runs)) {
      const ours = engines.run(text, engine, { point: point + 1 }).digest;
      runs[engine] += 1;
      if (ours !== digest) differ.push([native.label, engine, digest, ours]);
    }
  }
  assert.deepEqual(differ, []);
  return runs;
}

test("all lessons run as in the program", { skip }, () => {
  const lessons = readdirSync(new URL("crates/lab/lessons", root)).filter((name) => /^\d/.test(name));
  assert.equal(lessons.length, 12);
  for (const lesson of lessons) {
    const text = read(`crates/lab/lessons/${lesson}`);
    // The fluid has no law for BAT.
    const names = text.includes("bat-clcc") ? ["packet"] : ["theory", "fluid", "packet"];
    assert.ok(compare(text, names).packet > 0, lesson);
  }
});

test("75 pairs of a controller and a discipline run as in the program", { skip }, () => {
  const pairs = (controllers) => `duration = "4 s"
[topology.dumbbell]
rate = "10 Mbps"
delay = "20 ms"
queue = { discipline = "droptail", limit = "50 pkt" }
[flow.a]
from = "left"
to = "right"
controller = "vegas"
count = 2
[flow.b]
from = "left"
to = "right"
controller = "none"
demand = { constant = "1 Mbps" }
start = "1 s"
[sweep.controller]
set = ["flow.a.controller"]
values = ${JSON.stringify(controllers)}
[sweep.discipline]
set = ["topology.dumbbell.queue.discipline"]
values = ["droptail", "red", "codel", "avq", "rem"]
`;
  const fluid = ["monaco", "vegas", "vegas-k", "vegas-rem", "reno", "newreno", "cubic"];
  const others = ["multcp", "bbr1", "bbr3", "c4", "dctcp", "prague", "copa", "ledbat", "ledbat-pp"];
  const [some, all] = [5 * fluid.length, 5 * others.length];
  assert.deepEqual(compare(pairs(fluid), ["fluid", "packet"]), { theory: 0, fluid: some, packet: some });
  assert.deepEqual(compare(pairs(others), ["packet"]), { theory: 0, fluid: 0, packet: all });
});

test("packets have the recorded digests", () => {
  const points = new Map();
  for (const [, id, digest] of read("scenarios/results.txt").matchAll(/^(\S+) \| .*\n {2}digest \| seed 1 \| ([0-9a-f]+)$/gm)) points.set(id, [...(points.get(id) ?? []), digest]);
  assert.ok(points.size > 50, `${points.size} experiments`);
  const short = ["bat-rates", "har02-fig7", "low02-fig6", "kernel-controllers"];
  const large = new Set();
  for (const id of process.env.ALL ? points.keys() : short) {
    points.get(id).forEach((digest, i) => {
      const point = i + 1;
      let run;
      try {
        run = engines.run(engines.experiment(id), "packet", { point });
      } catch (error) {
        // The bound of the module.
        if (!process.env.ALL || error.message !== "this takes more than 1 GiB of memory") throw error;
        return large.add(id);
      }
      assert.equal(run.digest, digest, `${id}, point ${point}`);
    });
  }
  if (process.env.ALL) console.log(`equal but for ${[...large].join(", ") || "none"}, which take more than 1 GiB, of ${points.size}`);
  assert.ok(large.size < 5, [...large].join(", "));
});
