// The page's side of the workers, with workers that the test plays.
import assert from "node:assert/strict";
import test from "node:test";
import { Engines, Module, begin } from "../src/engines.js";

const workers = [];
const frames = new Map();

/** A worker whose answers the test gives. */
class Played {
  constructor() {
    this.asked = [];
    workers.push(this);
  }
  postMessage({ module, packed, ask }) {
    if (module) this.module = module;
    else if (packed) this.packed = packed;
    else this.asked.push(JSON.parse(ask));
  }
  terminate() {
    this.ended = true;
  }
  says(event) {
    this.onmessage({ data: { line: JSON.stringify(event) } });
  }
}

Object.assign(globalThis, {
  Worker: Played,
  WORKER: "",
  requestAnimationFrame: (draw) => (frames.set(frames.size + 1, draw), frames.size),
  cancelAnimationFrame: (frame) => frames.delete(frame),
});

function engines() {
  workers.length = 0;
  frames.clear();
  const module = new Module("packed");
  const one = new Engines(module);
  module.take("module");
  return one;
}

test("questions are answered one after the other, by one worker", async () => {
  const one = engines();
  const events = [];
  const first = one.ask({ ask: "run" }, undefined, (event) => events.push(event.event));
  const second = one.ask({ ask: "page" });
  const [worker] = workers;
  assert.equal(worker.module, "module");
  assert.deepEqual(worker.asked, [{ ask: "run" }]);
  worker.says({ event: "progress", part: 0.5 });
  worker.says({ event: "answer", answer: 1 });
  assert.equal(await first, 1);
  assert.deepEqual(worker.asked, [{ ask: "run" }, { ask: "page" }]);
  worker.says({ event: "refused", message: "gone" });
  await assert.rejects(second, { message: "gone" });
  assert.deepEqual(events, ["progress"]);
  assert.equal(workers.length, 1);
});

test("of views that come faster than they are drawn, the last one is drawn, and before the answer", async () => {
  const one = engines();
  const drawn = [];
  const run = one.ask({ ask: "run" }, undefined, (event) => drawn.push(event.plots ?? event.event));
  const [worker] = workers;
  worker.says({ event: "view", plots: "a" });
  worker.says({ event: "view", plots: "b" });
  assert.deepEqual(drawn, []);
  assert.equal(frames.size, 1);
  [...frames.values()][0]();
  worker.says({ event: "view", plots: "c" });
  worker.says({ event: "failed", message: "no fluid" });
  worker.says({ event: "view", plots: "d" });
  worker.says({ event: "answer", answer: {} });
  await run;
  assert.deepEqual(drawn, ["b", "c", "failed", "d"]);
});

test("a run that is stopped ends its worker, and the next question gets another one", async () => {
  const one = engines();
  const [stop, later] = [new AbortController(), new AbortController()];
  const run = one.ask({ ask: "run" }, stop.signal);
  const dropped = one.ask({ ask: "dropped" }, later.signal);
  const next = one.ask({ ask: "next" });
  later.abort();
  await assert.rejects(dropped, { name: "AbortError" });
  assert.equal(workers[0].ended, undefined, "what waits does not end the worker");
  stop.abort();
  await assert.rejects(run, { name: "AbortError" });
  assert.equal(workers[0].ended, true);
  assert.deepEqual(workers[1].asked, [{ ask: "next" }]);
  workers[1].says({ event: "answer", answer: 2 });
  assert.equal(await next, 2);
  // A signal that comes late ends nothing.
  stop.abort();
  assert.equal(workers[1].ended, undefined);
  await assert.rejects(one.ask({ ask: "late" }, stop.signal), { name: "AbortError" });
});

test("engines that end are replaced, and the reason is a sentence", async () => {
  const one = engines();
  const large = one.ask({ ask: "run" });
  workers[0].onmessage({ data: { died: "unreachable", refused: true } });
  await assert.rejects(large, /more than 1 GiB of memory/);
  const wrong = one.ask({ ask: "run" });
  workers[1].onmessage({ data: { died: "unreachable", refused: false } });
  await assert.rejects(wrong, /The engines ended: unreachable/);
  const failed = one.ask({ ask: "run" });
  workers[2].onerror({ message: "no worker" });
  await assert.rejects(failed, /no worker/);
});

const begun = () => {
  workers.length = 0;
  globalThis.DecompressionStream ??= class {};
  return begin("packed");
};

test("the first worker compiles the module and takes a run meanwhile; the other one waits for it", async () => {
  const { runs, others } = begun();
  assert.equal(workers.length, 1);
  assert.equal(workers[0].packed, "packed");
  const run = runs.ask({ ask: "run" });
  const check = others.ask({ ask: "check" });
  assert.deepEqual(workers[0].asked, [{ ask: "run" }]);
  assert.equal(workers.length, 1);
  workers[0].onmessage({ data: { module: "compiled" } });
  assert.equal(workers[1].module, "compiled");
  assert.deepEqual(workers[1].asked, [{ ask: "check" }]);
  workers[1].says({ event: "answer", answer: 1 });
  workers[0].says({ event: "answer", answer: 2 });
  assert.deepEqual([await check, await run], [1, 2]);
});

test("a run that is stopped while the module is compiled lets it be compiled", async () => {
  const { runs } = begun();
  const stop = new AbortController();
  const run = runs.ask({ ask: "run" }, stop.signal);
  const next = runs.ask({ ask: "next" });
  stop.abort();
  await assert.rejects(run, { name: "AbortError" });
  assert.equal(workers[0].ended, undefined);
  workers[0].onmessage({ data: { module: "compiled" } });
  assert.equal(workers[0].ended, true);
  const last = workers.find((worker) => worker.asked.some(({ ask }) => ask === "next"));
  assert.equal(last.module, "compiled");
  last.says({ event: "answer", answer: 3 });
  assert.equal(await next, 3);
});

test("a module that is damaged refuses every question with its reason", async () => {
  const { runs, others } = begun();
  const asked = [runs.ask({ ask: "run" }), others.ask({ ask: "check" })];
  workers[0].onmessage({ data: { died: "not a module", refused: false } });
  for (const one of [...asked, others.ask({ ask: "later" }), runs.ask({ ask: "later" })]) await assert.rejects(one, /The engines ended: not a module/);
});
