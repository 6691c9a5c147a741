// The engines in the page: WebAssembly in workers, which answer as the server does.

const MEMORY = "This needs more than 1 GiB of memory, which is the bound in a browser. Shorten the run, take fewer flows, or run it with the program.";
const OLD = "This browser is too old for the laboratory in one file: it needs WebAssembly and DecompressionStream.";

const stopped = () => new DOMException("stopped", "AbortError");

/** The module of a page: `packed` as the page has it, and `compiled` once the first of its workers has done that. */
export class Module {
  constructor(packed) {
    this.packed = packed;
    this.users = [];
  }

  /** Takes the compiled module. */
  take(compiled) {
    Object.assign(this, { compiled, packed: undefined });
    this.users.forEach((user) => user.ready());
  }

  /** Gives a module up that cannot be compiled. */
  fail(error) {
    if (this.compiled) return;
    this.error = error;
    this.users.forEach((user) => user.waiting.splice(0).forEach((job) => job.reject(error)));
  }
}

/**
 * Starts two workers with a module: one for runs, which compiles the module, and one for all else, so a run delays no
 * check. Returns { runs, others }.
 */
export function begin(packed) {
  const module = new Module(packed);
  const [runs, others] = [new Engines(module), new Engines(module)];
  if (globalThis.WebAssembly && globalThis.DecompressionStream) runs.start();
  else module.fail(new Error(OLD));
  return { runs, others };
}

/** A worker with the engines. It does one thing at a time, and is replaced if that is stopped. */
export class Engines {
  /** The first worker of a module compiles it. */
  constructor(module) {
    this.module = module;
    this.first = module.users.push(this) === 1;
    this.waiting = [];
  }

  /** Asks for something, and reports the events until the answer. */
  ask(body, signal, report) {
    return new Promise((resolve, reject) => {
      if (this.module.error) return reject(this.module.error);
      const job = { body, report, resolve, reject };
      signal?.addEventListener("abort", () => this.stop(job));
      if (signal?.aborted) return reject(stopped());
      this.waiting.push(job);
      this.next();
    });
  }

  next() {
    // The first worker takes a question while it compiles.
    const able = this.first || this.module.compiled;
    if (!able || this.job || this.waiting.length === 0) return;
    this.job = this.waiting.shift();
    if (!this.worker) this.start();
    this.worker.postMessage({ ask: JSON.stringify(this.job.body) });
  }

  start() {
    const { compiled, packed } = this.module;
    const url = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
    this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.worker.onmessage = ({ data }) => this.take(data);
    this.worker.onerror = (event) => this.take({ died: event.message });
    this.worker.postMessage(compiled ? { module: compiled } : { packed });
  }

  /** Goes on after the module is compiled. */
  ready() {
    // A run that has been stopped.
    if (this.job?.stopped) return this.replace();
    if (!this.worker) this.start();
    this.next();
  }

  end() {
    this.worker?.terminate();
    this.worker = null;
  }

  take({ module, line, died, refused }) {
    if (module) return this.module.take(module);
    const { job } = this;
    if (died !== undefined) {
      this.end();
      const error = new Error(refused ? MEMORY : `The engines ended: ${died}`);
      this.module.fail(error);
      return job && this.finish(() => job.reject(error));
    }
    if (!job) return;
    const event = JSON.parse(line);
    // If a view takes longer to draw than to compute, only the latest one is drawn.
    if (event.event === "view") {
      job.view = event;
      job.frame ??= requestAnimationFrame(() => this.show(job));
      return;
    }
    this.show(job);
    if (event.event === "answer") this.finish(() => job.resolve(event.answer));
    else if (event.event === "refused") this.finish(() => job.reject(new Error(event.message)));
    else job.report?.(event);
  }

  show(job) {
    const { view, frame } = job;
    cancelAnimationFrame(frame);
    Object.assign(job, { view: undefined, frame: undefined });
    if (view) job.report?.(view);
  }

  finish(end) {
    this.job = null;
    end();
    this.next();
  }

  /** Ends the worker with its job. The next job starts another one. */
  replace() {
    this.end();
    this.finish(() => {});
  }

  stop(job) {
    this.waiting = this.waiting.filter((one) => one !== job);
    job.reject(stopped());
    if (this.job !== job) return;
    cancelAnimationFrame(job.frame);
    Object.assign(job, { report: undefined, stopped: true });
    // A worker that compiles the module goes on with that.
    if (this.module.compiled) this.replace();
  }
}
