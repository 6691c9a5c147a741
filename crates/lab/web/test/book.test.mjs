// The scenarios in the pages of the book, in a real browser from a disk: node --test with CHROMIUM=the browser, after
// tools/web/build. MDBOOK=the program builds the pages; without it the test makes pages with mdbook's elements.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const docs = fileURLToPath(new URL("../../../../docs/", import.meta.url));
const module = join(docs, "src/live/module.js");
const skip = existsSync(module) ? false : "tools/web/build has not made the engines of the book";
if (skip) console.error(`SKIPPED: scenarios in the book: ${skip}`);
const book = mkdtempSync(join(tmpdir(), "accord-book-"));
const FENCE = /```toml,live\n([^]*?)```/g;
const pages = readdirSync(join(docs, "src"), { recursive: true })
  .filter((path) => path.endsWith(".md"))
  .map((path) => ({ path, blocks: [...readFileSync(join(docs, "src", path), "utf8").matchAll(FENCE)].map(([, text]) => text) }))
  .filter(({ blocks }) => blocks.length > 0);
const problems = [];
let browser;

before(async () => {
  if (process.env.MDBOOK) {
    const built = spawnSync(process.env.MDBOOK, ["build", docs, "--dest-dir", book], { encoding: "utf8" });
    assert.equal(built.status, 0, built.stderr);
  } else {
    const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    mkdirSync(join(book, "live"));
    copyFileSync(join(docs, "live/live.js"), join(book, "live/live.js"));
    if (!skip) copyFileSync(module, join(book, "live/module.js"));
    for (const { path, blocks } of pages) {
      const page = join(book, path.replace(/md$/, "html"));
      mkdirSync(dirname(page), { recursive: true });
      const code = blocks.map((text) => `<p>A paragraph.</p><pre><code class="language-toml live">${escaped(text)}</code></pre>`);
      const root = "../".repeat(path.split("/").length - 1);
      writeFileSync(page, `<!doctype html><html lang="en" class="light"><meta charset="utf-8"><main>${code.join("")}</main><script src="${root}live/live.js"></script></html>`);
    }
  }
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  rmSync(book, { recursive: true, force: true });
});

async function open(path, options = {}) {
  const page = await browser.newPage(options);
  // On a busy machine a step may take minutes.
  page.setDefaultTimeout(300_000);
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(pathToFileURL(join(book, path.replace(/md$/, "html"))).href);
  return page;
}

const move = (page, nth, to) =>
  page
    .locator(".accord-live")
    .nth(nth)
    .locator("input")
    .first()
    .evaluate((slider, to) => {
      slider.value = to;
      slider.dispatchEvent(new Event("input"));
    }, to);
const text = (page) => page.locator("code.live, code[class*='live']").first().textContent();

test("a reader moves a slider below a paragraph, and the scenario runs with its packets", { skip }, async () => {
  const page = await open("start.md");
  const [before] = pages.find(({ path }) => path === "start.md").blocks;
  assert.equal((await text(page)).trim(), before.trim());
  assert.equal(await page.locator(".accord-live canvas").count(), 0, "nothing runs before");
  const labels = await page.locator(".accord-live label span").allInnerTexts();
  const rate = labels.indexOf("topology.dumbbell.rate");
  await page.locator(".accord-live input").nth(rate).evaluate((slider) => {
    slider.value = 0.7;
    slider.dispatchEvent(new Event("input"));
  });
  assert.match(await text(page), /rate = "50 Mbps"/);
  await page.locator(".accord-live canvas").first().waitFor();
  await page.waitForFunction(() => /^[0-9.]+ s/.test(document.querySelector(".accord-live .status").textContent));
  const key = await page.locator(".accord-live .key").innerText();
  for (const engine of ["theory", "fluid", "packet"]) assert.match(key, new RegExp(engine));
  const colours = await page.evaluate(() => {
    const canvas = document.querySelector(".accord-live canvas");
    return new Set(new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
  });
  assert.ok(colours > 20, `${colours} colours`);
  await page.close();
});

test("a preview that waits does not stop the exact run", { skip }, async () => {
  const page = await open("start.md");
  const exact = (options) => page.waitForFunction(() => /^[0-9.]+ s/.test(document.querySelector(".accord-live .status").textContent), undefined, options);
  await move(page, 0, 0.4);
  await exact();
  await page.evaluate(() => {
    // The slider rests during a preview, and the exact run begins.
    const send = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (message) {
      if (!message.ask || !JSON.parse(message.ask).preview) return send.call(this, message);
      setTimeout(() => send.call(this, message), 2_000);
    };
    document.querySelector(".accord-live .status").textContent = "";
    const slider = document.querySelector(".accord-live input");
    for (const value of [0.5, 0.6, 0.7]) {
      slider.value = value;
      slider.dispatchEvent(new Event("input"));
    }
  });
  await exact({ timeout: 60_000 });
  await page.close();
});

test("every live block of the book runs", { skip }, async () => {
  assert.ok(pages.length >= 8, `${pages.length} pages`);
  for (const { path, blocks } of pages) {
    const page = await open(path);
    assert.equal(await page.locator(".accord-live").count(), blocks.length, path);
    for (const nth of blocks.keys()) {
      await move(page, nth, 0.4);
      const live = page.locator(".accord-live").nth(nth);
      await live.locator("canvas").first().waitFor();
      assert.ok((await live.locator("label").count()) > 1, path);
    }
    await page.close();
  }
});

test("without JavaScript a page is as it was", async () => {
  const page = await open("start.md", { javaScriptEnabled: false });
  assert.match(await text(page), /rate = "20 Mbps"/);
  assert.equal(await page.locator(".accord-live").count(), 0);
  await page.close();
});

test("a mistake and a copy without engines say so in a sentence", { skip }, async () => {
  const wrong = join(book, "wrong.html");
  writeFileSync(wrong, `<!doctype html><pre><code class="language-toml live">duration = "1 s"\nrate = 3\n</code></pre><script src="live/live.js"></script>`);
  const page = await open("wrong.md");
  await move(page, 0, 0.9);
  await page.waitForFunction(() => /rate/.test(document.querySelector(".accord-live .status").textContent));
  await page.close();
  mkdirSync(join(book, "bare/live"), { recursive: true });
  copyFileSync(join(docs, "live/live.js"), join(book, "bare/live/live.js"));
  copyFileSync(join(book, "start.html"), join(book, "bare/start.html"));
  if (process.env.MDBOOK) return;
  const bare = await open("bare/start.md");
  await move(bare, 0, 0.4);
  await bare.waitForFunction(() => /no engines/.test(document.querySelector(".accord-live .status").textContent));
  assert.ok((await bare.locator(".accord-live label").count()) > 1);
  await bare.close();
});

test("nothing went wrong", () => assert.deepEqual(problems, []));
