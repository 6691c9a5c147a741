// Requests to the server that the page came from, with the secret of the page's address.
const token = new URLSearchParams(location.search).get("token") ?? "";

async function ask(path, body, signal) {
  const headers = { "x-accord-token": token, "content-type": "application/json" };
  const options = body === undefined ? { headers, signal } : { method: "POST", headers, signal, body: JSON.stringify(body) };
  const answer = await fetch(path, options);
  if (!answer.ok) throw new Error((await answer.text()) || `the server answered ${answer.status}`);
  return answer;
}

export const start = async () => (await ask("/api/start")).json();
export const gallery = async () => (await ask("/api/gallery")).json();
export const schema = async () => (await ask("/api/schema")).json();
export const scenario = async (id) => (await ask(`/api/scenario?id=${encodeURIComponent(id)}`)).text();
export const check = async (text, signal) => (await ask("/api/check", { text }, signal)).json();
export const save = async (text) => void (await ask("/api/save", { text }));
export const exported = async (run) => (await (await ask("/api/export", { run })).json()).directory;

/** Runs a scenario and calls `tell` with each event, until the end or the signal. */
export async function run(request, signal, tell) {
  const answer = await ask("/api/run", request, signal);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    lines.forEach((line) => tell(JSON.parse(line)));
  }
}
