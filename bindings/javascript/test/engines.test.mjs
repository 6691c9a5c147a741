// node --test, after tools/web/build, which puts the module next to index.js.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../index.js";

const engines = await load();
const small = `duration = "10 s"
[topology.dumbbell]
rate = "10 Mbps"
delay = "20 ms"
[flow.a]
from = "left"
to = "right"
controller = "vegas"
`;

test("theory, fluid and packets give a flow the rate of its link", () => {
  for (const engine of ["theory", "fluid", "packet"]) {
    const { time_s, series } = engines.run(small, engine);
    const rates = series.find((one) => one.entity === "a" && one.metric === "throughput");
    assert.equal(rates.unit, "bit/s");
    assert.equal(rates.values.length, time_s.length);
    // Packets come in bursts: the mean of the second half.
    const half = rates.values.slice(rates.values.length / 2);
    const mean = half.reduce((sum, value) => sum + value, 0) / half.length;
    assert.ok(Math.abs(mean / 10e6 - 1) < 0.02, `${engine}: ${mean}`);
  }
});

test("progress is a share that grows", () => {
  const parts = [];
  engines.run(small, "packet", { progress: (part) => parts.push(part) });
  parts.forEach((part, i) => assert.ok(part >= (parts[i - 1] ?? 0) && part <= 1, `${part}`));
});

test("points count from 1", () => {
  const swept = `${small}[sweep.rate]\nset = ["topology.dumbbell.rate"]\nvalues = ["10 Mbps", "20 Mbps"]\n`;
  assert.deepEqual(engines.check(swept).points.length, 2);
  const rate = (options) => engines.run(swept, "theory", options).series.find((one) => one.entity === "a" && one.metric === "throughput").values.at(-1);
  assert.equal(rate({}), rate({ point: 1 }));
  assert.ok(Math.abs(rate({ point: 2 }) / rate({ point: 1 }) - 2) < 0.01);
  for (const point of [0, -1, 1.5, "1"]) assert.throws(() => rate({ point }), /points count from 1/);
  assert.throws(() => rate({ point: 3 }), /no point 3; its 2 points count from 1/);
  assert.throws(() => engines.stability(swept, { point: 0 }), /points count from 1/);
});

/** Loads the engines with another class for instances of modules, and passes them to a function. */
async function withInstances(Instance, work) {
  const before = WebAssembly.Instance;
  WebAssembly.Instance = Instance;
  try {
    await work();
  } finally {
    WebAssembly.Instance = before;
  }
}

test("a result gives its memory back", async () => {
  let memory;
  class Watched extends WebAssembly.Instance {
    constructor(...of) {
      super(...of);
      ({ memory } = this.exports);
    }
  }
  await withInstances(Watched, async () => {
    const own = await load();
    const long = `sample = "1 ms"\n${small}`;
    const sizes = Array.from({ length: 12 }, () => {
      own.run(long, "packet");
      return memory.buffer.byteLength;
    });
    // The first runs find out how much one takes. Eight results were more than that.
    assert.equal(sizes.at(-1), sizes[2], sizes.join());
  });
});

test("the reason of an end is its own", async () => {
  let ends = 0;
  class Fake {
    constructor(_, { page }) {
      const memory = { buffer: new ArrayBuffer(65536) };
      const why = new TextEncoder().encode("the first reason");
      const ask = () => {
        ends += 1;
        if (ends === 1) {
          new Uint8Array(memory.buffer).set(why);
          page.failed(0, why.length);
        }
        throw new Error("unreachable");
      };
      this.exports = { memory, room: () => 1024, ask, refused: () => 0 };
    }
  }
  await withInstances(Fake, async () => {
    const own = await load(new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])));
    assert.throws(() => own.check(small), /^Error: the first reason$/);
    assert.throws(() => own.check(small), /^Error: unreachable$/);
  });
});

test("mistakes have their places, and what cannot run is an error", () => {
  const [mistake] = engines.check(small.replace("vegas", "vega")).errors;
  assert.equal(mistake.line, 8);
  assert.match(mistake.hint, /vegas/);
  assert.deepEqual(engines.check(small), { errors: [], points: [""] });
  assert.throws(() => engines.run("not toml", "packet"), /expected/);
  assert.throws(() => engines.run(small, "live"), /sockets/);
  assert.throws(() => engines.run(small, "packet", { point: 3 }), /no point 3; its 1 points count from 1/);
  assert.throws(() => engines.run(`${small}count = 1000000\n`, "packet"), /1 GiB/);
  assert.equal(engines.run(small, "theory").engine, "theory");
});
