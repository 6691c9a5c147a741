// Requests to the page's server, with the secret of the page's address.
const token = new URLSearchParams(location.search).get("token") ?? "";

const ENDED = "The laboratory's server has ended. Start it again with accord lab, and open the address that it prints. Download saves the text.";

/** An answer with an error's status. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Does a request. Browsers report a server that has ended as a TypeError of their own words. */
async function reached(work) {
  try {
    return await work();
  } catch (error) {
    throw error instanceof TypeError ? new Error(ENDED) : error;
  }
}

async function ask(path, body, signal) {
  const headers = { "x-accord-token": token, "content-type": "application/json" };
  const options = body === undefined ? { headers, signal } : { method: "POST", headers, signal, body: JSON.stringify(body) };
  const answer = await reached(() => fetch(path, options));
  if (!answer.ok) throw new Refusal(answer.status, (await reached(() => answer.text())) || `the server answered ${answer.status}`);
  return answer;
}

const query = (values) => new URLSearchParams(values).toString();

/** Returns the file with this key, or else the one that was opened last. */
export const start = async (file) => (await ask(`/api/start?${query(file ? { file } : {})}`)).json();
export const gallery = async () => (await ask("/api/gallery")).json();
export const schema = async () => (await ask("/api/schema")).json();
export const scenario = async (id) => (await ask(`/api/scenario?${query({ id })}`)).text();
export const check = async (text, file, signal) => (await ask("/api/check", { text, file }, signal)).json();
/**
 * Saves a text. `to` is the name of a new file, or the key of a file with the mark of the text that this tab knows
 * of it. A refusal with status 409 asks for `replace`.
 */
export const save = async (text, to, replace) => (await ask("/api/save", { text, ...to, replace })).json();
export const exported = async (run) => (await (await ask("/api/export", { run })).json()).directory;
export const exercise = async (id, seed) => (await ask(`/api/exercise?${query({ id, seed })}`)).json();
export const grade = async (id, seed, answer) => (await ask("/api/grade", { id, seed, answer })).json();

/** Runs a scenario and calls `report` with each event, until the end or the signal. */
export async function run(request, signal, report) {
  const answer = await ask("/api/run", request, signal);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reached(() => reader.read());
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    lines.forEach((line) => report(JSON.parse(line)));
  }
}
