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

/** Sends a request, and returns the response. */
export async function request(path, body, signal) {
  const headers = { "x-accord-token": token, "content-type": "application/json" };
  const options = body === undefined ? { headers, signal } : { method: "POST", headers, signal, body: JSON.stringify(body) };
  const answer = await reached(() => fetch(path, options));
  if (!answer.ok) throw new Refusal(answer.status, (await reached(() => answer.text())) || `the server answered ${answer.status}`);
  return answer;
}

/** Asks for something, and reports the events until the answer: what `Engines` do without a server. */
export async function ask(body, signal, report) {
  const response = await request("/api/ask", body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reached(() => reader.read());
    if (done) throw new Error(ENDED);
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const event of lines.map((line) => JSON.parse(line))) {
      if (event.event === "answer") return event.answer;
      if (event.event === "refused") throw new Error(event.message);
      report?.(event);
    }
  }
}
