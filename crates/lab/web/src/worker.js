// The worker of engines.js. It gets the module, compiled or as the page has it, and then requests.
let started;
/** The reason for which the module ended, in its own words. */
let why;

/** Returns the bytes of a text in base64. Older browsers do it letter by letter. */
function decoded(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** Compiles a module, while it is unpacked. */
async function compiled(packed) {
  const stream = new DecompressionStream("gzip");
  const writer = stream.writable.getWriter();
  // A damaged module fails where it is read.
  writer.write(decoded(packed)).catch(() => {});
  writer.close().catch(() => {});
  const whole = new Response(stream.readable, { headers: { "content-type": "application/wasm" } });
  return WebAssembly.compileStreaming ? WebAssembly.compileStreaming(whole) : WebAssembly.compile(await whole.arrayBuffer());
}

async function start({ packed, module }) {
  if (packed) {
    module = await compiled(packed);
    postMessage({ module });
  }
  let memory;
  const text = (place, length) => new TextDecoder().decode(new Uint8Array(memory.buffer, place >>> 0, length));
  const event = (...at) => postMessage({ line: text(...at) });
  const failed = (...at) => (why = text(...at));
  const instance = await WebAssembly.instantiate(module, { page: { event, failed, now: () => performance.now() } });
  memory = instance.exports.memory;
  return instance.exports;
}

addEventListener("message", async ({ data }) => {
  let engines;
  try {
    if (!started) return void (await (started = start(data)));
    engines = await started;
    const request = new TextEncoder().encode(data.ask);
    const place = engines.room(request.length) >>> 0;
    new Uint8Array(engines.memory.buffer, place, request.length).set(request);
    engines.ask();
  } catch (error) {
    postMessage({ died: why ?? error.message, refused: (engines?.refused() ?? 0) !== 0 });
  }
});
