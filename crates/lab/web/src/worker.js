// The worker of engines.js. It gets the module, and then requests.
let started;
/** The reason for which the module ended, in its own words. */
let why;

async function start(module) {
  let memory;
  const text = (place, length) => new TextDecoder().decode(new Uint8Array(memory.buffer, place >>> 0, length));
  const event = (...at) => postMessage({ line: text(...at) });
  const failed = (...at) => (why = text(...at));
  const instance = await WebAssembly.instantiate(module, { page: { event, failed, now: () => performance.now() } });
  memory = instance.exports.memory;
  return instance.exports;
}

addEventListener("message", async ({ data }) => {
  if (data.module) return void (started = start(data.module));
  let engines;
  try {
    engines = await started;
    const request = new TextEncoder().encode(data.ask);
    const place = engines.room(request.length) >>> 0;
    new Uint8Array(engines.memory.buffer, place, request.length).set(request);
    engines.ask();
  } catch (error) {
    postMessage({ died: why ?? error.message, refused: (engines?.refused() ?? 0) !== 0 });
  }
});
