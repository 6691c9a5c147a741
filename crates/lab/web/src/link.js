// The state of the page as the end of an address: #s=… opens it.

const BEGIN = "#s=";
/** The maximum length of the end of an address, in characters, and of the state in it, in bytes. */
const LONGEST = 1 << 18;
const LARGEST = 1 << 21;
/** The engines in the order of their runs. */
export const ENGINES = ["theory", "fluid", "packet", "live"];

const DAMAGED = "This address is damaged: what follows # is not a state of the laboratory. Copy the whole address again.";

async function through(bytes, stream, most = Infinity) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    length += value.length;
    if (length > most) {
      reader.cancel();
      throw new Error("too large");
    }
    parts.push(value);
  }
}

/** Returns a state as the end of an address. */
export async function linkOf(state) {
  const packed = await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  const letters = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  return BEGIN + btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * Returns the state at the end of an address: { id, name, text, engines, point, range, hidden }, or null if there is
 * none. `id` is the gallery's, or null; `range` is the range of time that the plots show, or null for all; `hidden`
 * are the lines that they do not show.
 */
export async function stateOf(hash) {
  if (!hash.startsWith(BEGIN)) return null;
  if (hash.length > LONGEST) throw new Error(`This address is too long for the laboratory: ${hash.length} characters after #, and ${LONGEST} are the most. Send the scenario as a file.`);
  try {
    const letters = atob(hash.slice(BEGIN.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await through(Uint8Array.from(letters, (c) => c.charCodeAt(0)), new DecompressionStream("deflate-raw"), LARGEST);
    return checked(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch {
    throw new Error(DAMAGED);
  }
}

function checked({ id, name, text, engines, point, range, hidden }) {
  const texts = (list) => Array.isArray(list) && list.every((one) => typeof one === "string");
  const whole = (value) => Number.isSafeInteger(value) && value >= 0;
  const times = Array.isArray(range) && range.length === 2 && range.every(Number.isFinite) && range[0] < range[1];
  const sound =
    (id === null || typeof id === "string") && typeof name === "string" && name.length <= 200 && typeof text === "string" && texts(engines) && engines.every((one) => ENGINES.includes(one)) && whole(point) && (range === null || times) && texts(hidden);
  if (!sound) throw new Error("not a state");
  return { id, name, text, engines, point, range, hidden };
}
