// Accord's engines for Node and browsers. index.d.ts documents them.
const MODULE = new URL("./accord.wasm", import.meta.url);

async function bytes(url) {
  if (url.protocol !== "file:") return (await fetch(url)).arrayBuffer();
  const { readFile } = await import("node:fs/promises");
  return readFile(url);
}

export async function load(module) {
  const compiled = module instanceof WebAssembly.Module ? module : await WebAssembly.compile(module ?? (await bytes(MODULE)));
  return new Engines(compiled);
}

/** Returns the index of a point, which the module counts from 0. */
function index(point) {
  if (!Number.isInteger(point) || point < 1) throw new RangeError(`point ${point}: points count from 1`);
  return point - 1;
}

class Engines {
  #module;
  #exports;
  #report;
  #why;

  constructor(module) {
    this.#module = module;
    this.#start();
  }

  #start() {
    let memory;
    const text = (place, length) => new TextDecoder().decode(new Uint8Array(memory.buffer, place >>> 0, length));
    const event = (...at) => this.#report(JSON.parse(text(...at)));
    const failed = (...at) => (this.#why = text(...at));
    const instance = new WebAssembly.Instance(this.#module, { page: { event, failed, now: () => performance.now() } });
    this.#exports = instance.exports;
    memory = instance.exports.memory;
  }

  /** Asks for something, and returns the answer. */
  #ask(request, progress) {
    const { memory, room, ask, refused } = this.#exports;
    const text = new TextEncoder().encode(JSON.stringify(request));
    const place = room(text.length) >>> 0;
    new Uint8Array(memory.buffer, place, text.length).set(text);
    let last;
    let failed;
    // The reason of an earlier end is not that of this one.
    this.#why = undefined;
    this.#report = (event) => {
      last = event;
      if (event.event === "failed") failed ??= event.message;
      if (event.event === "progress") progress?.(event.part);
    };
    try {
      ask();
    } catch (error) {
      // The memory of a module that ended is not sound.
      const more = refused() !== 0;
      this.#start();
      throw new Error(more ? "this takes more than 1 GiB of memory" : (this.#why ?? error.message));
    }
    if (last.event === "refused") throw new Error(last.message);
    if (failed !== undefined) throw new Error(failed);
    return last.answer;
  }

  check(scenario) {
    const { errors, points } = this.#ask({ ask: "check", text: scenario });
    return { errors, points };
  }

  run(scenario, engine, { point = 1, progress } = {}) {
    const { run, seconds, digests } = this.#ask({ ask: "run", text: scenario, engines: [engine], point: index(point) }, progress);
    // The result's memory is free for the next run.
    const [{ time_s, series }] = this.#ask({ ask: "series", run, release: true });
    return { engine, digest: digests[engine], seconds, time_s, series };
  }

  stability(scenario, { point = 1 } = {}) {
    return this.#ask({ ask: "stability", text: scenario, point: index(point) });
  }

  experiment(id) {
    return this.#ask({ ask: "scenario", id });
  }
}
