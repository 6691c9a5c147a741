// The engines in the page: WebAssembly in workers, which answer as the server does.

const MEMORY = "This needs more than 1 GiB of memory, which is the bound in a browser. Shorten the run, take fewer flows, or run it with the program.";

/** Returns the module in the page, compiled, or null: a page without one asks its server. */
export function moduleOf(element) {
  const text = element?.textContent ?? "";
  return text === "" ? null : compiled(text);
}

async function compiled(text) {
  if (!globalThis.WebAssembly || !globalThis.DecompressionStream) throw new Error("This browser is too old for the laboratory in one file: it needs WebAssembly and DecompressionStream.");
  const bytes = decoded(text);
  const whole = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  return WebAssembly.compile(await whole.arrayBuffer());
}

/** Returns the bytes of a text in base64. Older browsers do it letter by letter. */
function decoded(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

const stopped = () => new DOMException("stopped", "AbortError");

/** A worker with the engines. It does one thing at a time, and is replaced if that is stopped. */
export class Engines {
  constructor(module) {
    this.module = module;
    this.waiting = [];
  }

  /** Asks for something, and reports the events until the answer. */
  ask(body, signal, report) {
    return new Promise((resolve, reject) => {
      const job = { body, report, resolve, reject };
      signal?.addEventListener("abort", () => this.stop(job));
      if (signal?.aborted) return reject(stopped());
      this.waiting.push(job);
      this.next();
    });
  }

  next() {
    if (this.job || this.waiting.length === 0) return;
    this.job = this.waiting.shift();
    if (!this.worker) this.start();
    this.worker.postMessage({ ask: JSON.stringify(this.job.body) });
  }

  start() {
    const url = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
    this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.worker.onmessage = ({ data }) => this.take(data);
    this.worker.onerror = (event) => this.take({ died: event.message });
    this.worker.postMessage({ module: this.module });
  }

  end() {
    this.worker?.terminate();
    this.worker = null;
  }

  take({ line, died, refused }) {
    const { job } = this;
    if (!job) return;
    if (died !== undefined) {
      this.end();
      return this.finish(() => job.reject(new Error(refused ? MEMORY : `The engines ended: ${died}`)));
    }
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

  stop(job) {
    this.waiting = this.waiting.filter((one) => one !== job);
    if (this.job !== job) return job.reject(stopped());
    cancelAnimationFrame(job.frame);
    this.end();
    this.finish(() => job.reject(stopped()));
  }
}
