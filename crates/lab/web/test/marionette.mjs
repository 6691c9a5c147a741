// Firefox without a window, by its own protocol for automation (Marionette): JSON with its length before it.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Firefox writes its port there. */
const PORT = "MarionetteActivePort";

export class Firefox {
  /** Starts a Firefox with a profile of its own. */
  static async start(program) {
    const firefox = new Firefox();
    firefox.dir = mkdtempSync(join(tmpdir(), "accord-firefox-"));
    writeFileSync(join(firefox.dir, "user.js"), 'user_pref("marionette.port", 0);\nuser_pref("datareporting.policy.dataSubmissionEnabled", false);\n');
    const env = { ...process.env, HOME: firefox.dir, MOZ_HEADLESS: "1" };
    firefox.process = spawn(program, ["--headless", "--marionette", "--no-remote", "--profile", firefox.dir], { env, stdio: "ignore" });
    firefox.ended = new Promise((resolve) => firefox.process.once("exit", resolve));
    let ended = false;
    firefox.ended.then(() => (ended = true));
    const port = () => (existsSync(join(firefox.dir, PORT)) ? readFileSync(join(firefox.dir, PORT), "utf8").trim() : "");
    while (port() === "") {
      if (ended) throw new Error("Firefox ended before it opened its port");
      await sleep(100);
    }
    await firefox.connect(Number(port()));
    const { sessionId } = await firefox.command("WebDriver:NewSession", {});
    if (!sessionId) throw new Error("Firefox gave no session");
    await firefox.command("WebDriver:SetTimeouts", { script: 300_000, pageLoad: 300_000 });
    return firefox;
  }

  connect(port) {
    this.asked = new Map();
    this.last = 0;
    let bytes = Buffer.alloc(0);
    return new Promise((resolve, reject) => {
      this.socket = connect(port, "127.0.0.1");
      this.socket.on("error", reject);
      this.socket.on("data", (more) => {
        bytes = Buffer.concat([bytes, more]);
        for (;;) {
          const colon = bytes.indexOf(":");
          const length = Number(bytes.subarray(0, colon));
          if (colon < 0 || bytes.length < colon + 1 + length) return;
          const message = JSON.parse(bytes.subarray(colon + 1, colon + 1 + length));
          bytes = bytes.subarray(colon + 1 + length);
          if (!Array.isArray(message)) {
            resolve();
            continue;
          }
          const [, id, error, result] = message;
          const { done, failed } = this.asked.get(id);
          this.asked.delete(id);
          if (error) failed(new Error(error.message));
          else done(result);
        }
      });
    });
  }

  command(name, parameters) {
    const id = ++this.last;
    const text = JSON.stringify([0, id, name, parameters]);
    return new Promise((done, failed) => {
      this.asked.set(id, { done, failed });
      this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  }

  open(url) {
    return this.command("WebDriver:Navigate", { url });
  }

  /** Returns the value of an expression in the page. */
  async value(expression) {
    const { value } = await this.command("WebDriver:ExecuteScript", { script: `return ${expression};`, args: [], sandbox: null });
    return value;
  }

  /** Waits until an expression is true. */
  async until(expression) {
    while (!(await this.value(`Boolean(${expression})`))) await sleep(100);
  }

  /** Returns a picture of the page as PNG. */
  async picture() {
    const { value } = await this.command("WebDriver:TakeScreenshot", { full: false });
    return Buffer.from(value, "base64");
  }

  async end() {
    this.socket?.destroy();
    this.process.kill();
    await this.ended;
    rmSync(this.dir, { recursive: true, force: true });
  }
}
