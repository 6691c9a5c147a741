// WebKitGTK by its WebDriver. It needs a display: WEBKIT is a command that starts WebKitWebDriver on one, such as
// "xvfb-run -a WebKitWebDriver".
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const free = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

export class WebKit {
  /** Starts a WebKit without a profile. */
  static async start(command) {
    const webkit = new WebKit();
    const port = await free();
    const [program, ...args] = command.split(" ");
    // With the locale C, WebKitGTK gives pages the language "C", which its own Intl refuses.
    const env = { ...process.env, LANG: "en_GB.UTF-8", LC_ALL: "en_GB.UTF-8", LANGUAGE: "en_GB:en" };
    // A group of its own, so that its browser and its display end with it.
    webkit.process = spawn(program, [...args, "--host=127.0.0.1", `--port=${port}`], { env, stdio: "ignore", detached: true });
    webkit.ended = new Promise((resolve) => webkit.process.once("exit", resolve));
    let ended = false;
    webkit.ended.then(() => (ended = true));
    webkit.url = `http://127.0.0.1:${port}`;
    for (;;) {
      const ready = await fetch(`${webkit.url}/status`).then((answer) => answer.ok, () => false);
      if (ready) break;
      if (ended) throw new Error(`${program} ended before it answered`);
      await sleep(100);
    }
    const { sessionId } = await webkit.command("/session", { capabilities: { alwaysMatch: { timeouts: { script: 300_000, pageLoad: 300_000 } } } });
    webkit.url += `/session/${sessionId}`;
    return webkit;
  }

  async command(path, body, method = "POST") {
    const answer = await fetch(this.url + path, { method, body: method === "POST" ? JSON.stringify(body) : undefined });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(value.message || value.error);
    return value;
  }

  open(url) {
    return this.command("/url", { url });
  }

  /** Returns the value of an expression in the page. */
  value(expression) {
    return this.command("/execute/sync", { script: `return ${expression};`, args: [] });
  }

  /** Waits until an expression is true. */
  async until(expression) {
    while (!(await this.value(`Boolean(${expression})`))) await sleep(100);
  }

  /** Returns a picture of the page as PNG. */
  async picture() {
    return Buffer.from(await this.command("/screenshot", undefined, "GET"), "base64");
  }

  async end() {
    await this.command("", undefined, "DELETE").catch(() => {});
    process.kill(-this.process.pid);
    await this.ended;
  }
}
