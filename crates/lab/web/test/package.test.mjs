// The package for JavaScript in a real browser, as npm packs it: node --test with CHROMIUM=the browser, after tools/web/build.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const sources = fileURLToPath(new URL("../../../../bindings/javascript/", import.meta.url));
const skip = existsSync(join(sources, "accord.wasm")) ? false : "tools/web/build has not made the module";
if (skip) console.error(`SKIPPED: the package for JavaScript in a browser: ${skip}`);
const dir = mkdtempSync(join(tmpdir(), "accord-package-"));
const scenario = `duration = "10 s"
[topology.dumbbell]
rate = "10 Mbps"
delay = "20 ms"
[flow.a]
from = "left"
to = "right"
controller = "cubic"
`;
const types = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const problems = [];
let browser, server, page;

before(async () => {
  if (skip) return;
  const packed = spawnSync("npm", ["pack", "--silent", "--pack-destination", dir], { cwd: sources, encoding: "utf8" });
  assert.equal(packed.status, 0, packed.stderr);
  const name = packed.stdout.trim().split("\n").at(-1);
  assert.equal(spawnSync("tar", ["-xf", name], { cwd: dir }).status, 0);
  server = createServer((request, response) => {
    const path = request.url === "/" ? null : join(dir, "package", request.url);
    if (path && !existsSync(path)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[extname(path ?? "page.html")] });
    response.end(path ? readFileSync(path) : "<!doctype html><title>page</title>");
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  page = await browser.newPage();
  page.setDefaultTimeout(300_000);
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
});

after(async () => {
  await browser?.close();
  server?.close();
  rmSync(dir, { recursive: true, force: true });
});

test("a page of others loads the package, and its runs are those of Node", { skip }, async () => {
  const inPage = await page.evaluate(async (scenario) => {
    const engines = await (await import("/index.js")).load();
    // The time that a run took is left out.
    return ["theory", "fluid", "packet"].map((engine) => JSON.stringify({ ...engines.run(scenario, engine), seconds: 0 }));
  }, scenario);
  const { load } = await import(join(dir, "package/index.js"));
  const engines = await load();
  for (const [i, engine] of ["theory", "fluid", "packet"].entries()) {
    assert.ok(inPage[i] === JSON.stringify({ ...engines.run(scenario, engine), seconds: 0 }), engine);
  }
});

test("it runs in a worker, and a mistake is an error there", { skip }, async () => {
  const [rate, mistake] = await page.evaluate(async (scenario) => {
    const source = `import { load } from "${location.origin}/index.js";
      onmessage = async ({ data }) => {
        const engines = await load();
        const { series } = engines.run(data, "theory");
        let mistake;
        try { engines.run(data.replace("vegas", "vegass"), "packet"); } catch (error) { mistake = error.message; }
        postMessage([series.length, mistake]);
      };`;
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })), { type: "module" });
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(scenario);
    });
  }, scenario.replace("cubic", "vegas"));
  assert.ok(rate > 0);
  assert.match(mistake ?? "", /vegass/);
});

test("nothing went wrong", { skip }, () => assert.deepEqual(problems, []));
