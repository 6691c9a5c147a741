// The laboratory in a real browser: node --test with ACCORD=the program and CHROMIUM=the browser.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const dir = mkdtempSync(join(tmpdir(), "accord-lab-"));
const file = join(dir, "mine.toml");
const small = `title = "Mine"
duration = "10 s"
[topology.dumbbell]
rate = "10 Mbps"
delay = "20 ms"
[flow.a]
from = "left"
to = "right"
controller = "vegas"
`;
let lab, url, browser, page;
const problems = [];

before(async () => {
  writeFileSync(file, small);
  lab = spawn(process.env.ACCORD, ["lab", file], { cwd: dir });
  lab.stderr.pipe(process.stderr);
  url = await new Promise((resolve, reject) => {
    lab.stdout.once("data", (text) => resolve(String(text).trim()));
    lab.once("exit", (code) => reject(new Error(`accord lab ended with ${code} before it told its address`)));
  });
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.goto(url);
  await page.waitForSelector(".result .status:not(:empty)");
});

after(async () => {
  await browser?.close();
  lab?.kill("SIGINT");
  rmSync(dir, { recursive: true, force: true });
});

/** The mean that the table gives `flow` in an engine's column. */
const means = () => page.locator("#means").innerText();
const plots = () => page.locator(".plots .panel, .plots .uplot").count();

test("theory and fluid are drawn at once, with the network", async () => {
  assert.match(await page.locator(".result h2").first().innerText(), /Mine/);
  assert.ok((await plots()) > 3);
  assert.match(await page.locator("#network").innerHTML(), /10 Mbps, 20 ms/);
  assert.match(await means(), /10\.00 Mbps/);
});

test("a slider changes the text and the plots, soon", async () => {
  const slider = page.getByLabel("topology.dumbbell.rate", { exact: true });
  const begun = Date.now();
  await slider.focus();
  await slider.press("ArrowRight");
  for (let i = 0; i < 20; i++) await slider.press("ArrowRight");
  await page.waitForFunction(() => !/10\.00 Mbps/.test(document.querySelector("#means").innerText));
  assert.ok(Date.now() - begun < 5000);
  const text = await page.evaluate(() => window.laboratory.editor.text);
  const rate = Number(/rate = "([0-9.]+) Mbps"/.exec(text)[1]);
  assert.ok(rate > 10, text);
});

test("a mistake is shown at its place, and mended", async () => {
  await page.evaluate((text) => (window.laboratory.editor.text = text), small.replace("vegas", "vega"));
  await page.waitForSelector(".cm-lintRange-error");
  assert.match(await page.locator("#message").innerText(), /Line 9: .*vega/);
  await page.evaluate((text) => (window.laboratory.editor.text = text), small);
  await page.waitForSelector(".cm-lintRange-error", { state: "detached" });
});

test("keys are completed", async () => {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("sta");
  const list = page.locator(".cm-tooltip-autocomplete");
  await list.waitFor();
  assert.match(await list.innerText(), /start/);
  await page.keyboard.press("Escape");
  await page.evaluate((text) => (window.laboratory.editor.text = text), small);
});

test("packets run, are kept beside, and exported", async () => {
  await page.waitForTimeout(500);
  await page.click("#run");
  await page.waitForFunction(() => /packet/i.test(document.querySelector("#means")?.innerText ?? ""));
  await page.waitForFunction(() => window.laboratory.result.run !== undefined);
  await page.getByRole("button", { name: "Keep beside" }).click();
  assert.equal(await page.locator(".result").count(), 2);
  await page.getByRole("button", { name: "Export" }).first().click();
  await page.waitForFunction(() => /Written/.test(document.querySelector("#message").textContent));
  assert.ok(existsSync(join(dir, "runs", "mine-lab-1", "series.parquet")), readdirSync(dir).join());
});

test("a long run streams, and stops when asked", async () => {
  await page.evaluate((text) => (window.laboratory.editor.text = text), small.replace('"10 s"', '"20000 s"'));
  await page.waitForTimeout(800);
  await page.uncheck("#engine-fluid");
  await page.click("#run");
  await page.waitForFunction(() => /packet [1-9]/.test(document.querySelector(".status").textContent));
  await page.click("#stop");
  await page.waitForFunction(() => document.querySelector("#stop").disabled);
});

test("a lesson of which only packets have figures says so", async () => {
  await page.selectOption("#gallery", "12-clcc");
  await page.waitForFunction(() => /Run computes its packets/.test(document.querySelector(".plots").innerText));
  await page.check("#engine-fluid");
  await page.click("#run");
  await page.waitForFunction(() => document.querySelector(".plots").querySelectorAll(".uplot").length > 3);
  assert.equal(await page.locator(".plots .nothing").count(), 0);
});

test("a lesson opens, with the paths of all its flows", async () => {
  await page.selectOption("#gallery", "03-parking-lot");
  await page.waitForFunction(() => /parking lot/.test(document.querySelector(".result h2").innerText));
  assert.equal(await page.locator("#file").innerText(), "03-parking-lot");
  assert.equal(await page.locator("#network polyline").count(), 4, "a long flow and three short ones");
});

test("a lesson replaces the file only if that is meant", async () => {
  const before = readFileSync(file, "utf8");
  const questions = [];
  const answer = (yes) => page.once("dialog", (dialog) => (questions.push(dialog.message()), yes ? dialog.accept() : dialog.dismiss()));
  answer(false);
  await page.click("#save");
  assert.equal(readFileSync(file, "utf8"), before);
  answer(true);
  await page.click("#save");
  await page.waitForFunction(() => /Saved/.test(document.querySelector("#message").textContent));
  assert.match(readFileSync(file, "utf8"), /parking lot/);
  // From now on it is the file's own text, which is saved without a question.
  await page.evaluate(() => (document.querySelector("#message").textContent = ""));
  await page.click("#save");
  await page.waitForFunction(() => /Saved/.test(document.querySelector("#message").textContent));
  assert.equal(questions.length, 2);
  assert.match(questions[0], /mine\.toml.*03-parking-lot/);
});

test("nothing went wrong on the way", () => assert.deepEqual(problems, []));
