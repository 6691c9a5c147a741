// The laboratory in one file, in a real browser from a disk: node --test with ACCORD=the program, built with the
// feature web, and CHROMIUM=the browser. Without that feature there is nothing to test.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { deflateRawSync } from "node:zlib";
import { chromium } from "playwright-core";

const MEGABYTE = 1e6;
const dir = mkdtempSync(join(tmpdir(), "accord-file-"));
const file = join(dir, "lab.html");
const saved = spawnSync(process.env.ACCORD, ["lab", "--save", file], { encoding: "utf8" });
const skip = /does not carry the engines/.test(saved.stderr) ? "the program does not carry the engines for browsers" : false;
if (skip) console.error(`SKIPPED: ${skip}`);
else assert.equal(saved.status, 0, saved.stderr);

const address = pathToFileURL(file).href;
const problems = [];
const requests = [];
let browser, page;

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

before(async () => {
  if (skip) return;
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  page = await open(address);
  await page.waitForFunction(() => window.laboratory?.result.run !== undefined);
  await page.getByRole("button", { name: "Show without a guess" }).click();
});

after(async () => {
  await browser?.close();
  rmSync(dir, { recursive: true, force: true });
});

async function open(address, size = { width: 1400, height: 900 }) {
  const page = await browser.newPage({ viewport: size });
  // On a busy machine a step may take minutes.
  page.setDefaultTimeout(300_000);
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(address);
  return page;
}

const text = () => page.evaluate(() => window.laboratory.editor.text);
const write = (text) => page.evaluate((text) => (window.laboratory.editor.text = text), text);
const ran = (text) => page.waitForFunction((text) => window.laboratory?.result.text === text && window.laboratory.result.run !== undefined, text);
const said = (pattern, on = page) => on.waitForFunction((source) => new RegExp(source).test(document.querySelector("#message").textContent), pattern.source);
const means = () => page.locator("#means").first().innerText();
/** Runs the ticked engines over a text in the page, and returns the digest of its packets. */
async function digest(text) {
  await write(text);
  await page.waitForFunction((text) => window.laboratory.result.text === text, text);
  await page.click("#run");
  await page.waitForFunction(() => window.laboratory.result.digests?.packet && window.laboratory.result.run !== undefined);
  return page.evaluate(() => window.laboratory.result.digests.packet);
}

test("the file and the module in it are small", { skip }, () => {
  const size = statSync(file).size;
  assert.ok(size <= 4 * MEGABYTE, `${size} bytes`);
  const coded = /id="module">([^<]+)</.exec(readFileSync(file, "utf8"))[1];
  assert.ok(Buffer.from(coded, "base64").length <= 1.2 * MEGABYTE, `${coded.length} letters`);
});

test("it opens from a disk with a lesson, its plots and its network", { skip }, async () => {
  assert.match(await page.locator(".result h2").first().innerText(), /AIMD|increase/i);
  assert.ok((await page.locator(".plots .uplot").count()) > 3);
  assert.match(await page.locator("#network").innerHTML(), /Mbps/);
  assert.match(await means(), /packet/i);
  assert.equal(await page.locator("#engine-live").isVisible(), false);
  assert.equal(await page.locator("#save-as").isVisible(), false);
});

test("the licences of the packages in the module are in the page", { skip }, async () => {
  const shown = page.locator("#licences");
  assert.equal(await shown.isVisible(), false);
  await page.locator("#about summary").click();
  assert.match(await shown.innerText(), /\nserde_json [0-9.]+: MIT OR Apache-2.0\n[^]*WITHOUT WARRANTY OF ANY KIND/);
  await page.locator("#about summary").click();
});

test("the first run waits for no other question", { skip }, async () => {
  const fresh = await browser.newPage();
  await fresh.addInitScript(() => {
    window.asked = [];
    const send = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (message) {
      if (message.ask) window.asked.push([JSON.parse(message.ask).ask, performance.now()]);
      return send.call(this, message);
    };
  });
  await fresh.goto(address);
  await fresh.waitForFunction(() => window.laboratory?.result.run !== undefined, undefined, { timeout: 300_000 });
  const asked = await fresh.evaluate(() => window.asked);
  await fresh.close();
  // The time is for people: how long it takes depends on the machine.
  console.log(`the first run begins ${Math.round(asked.find(([ask]) => ask === "run")[1])} ms after the page`);
  const kinds = asked.map(([ask]) => ask);
  assert.deepEqual(kinds.slice(0, kinds.indexOf("run")), []);
  assert.ok(!kinds.includes("schema"), "only completions need the schema");
});

test("while a slider moves the last preview is drawn, and then the exact result", { skip }, async () => {
  await write(small);
  await ran(small);
  const [kinds, exact] = await page.evaluate(async () => {
    const { laboratory } = window;
    const kinds = [];
    const stream = laboratory.stream;
    laboratory.stream = function (engines, text, preview = false) {
      kinds.push(preview ? "preview" : "exact");
      return stream.call(this, engines, text, preview);
    };
    const slider = document.querySelector('[aria-label="topology.dumbbell.rate"]');
    for (const value of [0.55, 0.6, 0.65, 0.7]) {
      slider.value = value;
      slider.dispatchEvent(new Event("input"));
    }
    for (let look = 0; look < 6_000 && laboratory.result.run === undefined; look++) await new Promise((resume) => setTimeout(resume, 10));
    delete laboratory.stream;
    return [kinds, laboratory.result.run !== undefined && laboratory.result.text === laboratory.editor.text];
  });
  // Four moves are at most two previews: of the first, and of the last one.
  assert.ok(["preview,exact", "preview,preview,exact"].includes(kinds.join()), kinds.join());
  assert.ok(exact);
});

test("a preview that waits does not stop the exact run", { skip }, async () => {
  await write(small);
  await ran(small);
  const [kinds, exact] = await page.evaluate(async () => {
    const { laboratory } = window;
    const { previews } = laboratory;
    const kinds = [];
    const { run } = previews;
    const stream = laboratory.stream;
    // The first preview lasts until the slider rests and the exact run has begun.
    let begun;
    const rests = new Promise((resolve) => (begun = resolve));
    previews.run = async () => {
      await run();
      await rests;
    };
    laboratory.stream = function (engines, text, preview = false) {
      kinds.push(preview ? "preview" : "exact");
      const done = stream.call(this, engines, text, preview);
      if (!preview) begun();
      return done;
    };
    const slider = document.querySelector('[aria-label="topology.dumbbell.rate"]');
    for (const value of [0.55, 0.6]) {
      slider.value = value;
      slider.dispatchEvent(new Event("input"));
    }
    await rests;
    for (let look = 0; look < 6_000 && laboratory.result.run === undefined; look++) await new Promise((resume) => setTimeout(resume, 10));
    delete laboratory.stream;
    previews.run = run;
    return [kinds, laboratory.result.run !== undefined];
  });
  assert.deepEqual([kinds.join(), exact], ["preview,exact", true]);
});

test("a slider moves theory and the fluid", { skip }, async () => {
  await write(small);
  await ran(small);
  await page.uncheck("#engine-packet");
  const before = await page.evaluate(() => window.laboratory.result.last);
  const slider = page.getByLabel("topology.dumbbell.rate", { exact: true });
  await slider.focus();
  for (let i = 0; i < 21; i++) await slider.press("ArrowRight");
  await page.waitForFunction(() => !/10\.00 Mbps/.test(document.querySelector("#means").innerText));
  await ran(await text());
  const after = await page.evaluate(() => window.laboratory.result.last);
  const lines = ({ plots }) => JSON.parse(plots).points[0].panels[0].lines.map(({ engine, v }) => JSON.stringify([engine, v]));
  for (const line of lines(before)) assert.ok(!lines(after).includes(line), "a line of theory or the fluid stayed");
  await page.check("#engine-packet");
});

test("packets in the page have the digests of the program", { skip }, async () => {
  const path = join(dir, "lab.toml");
  const scenarios = [small, small.replace("vegas", "cubic"), small.replace("vegas", "bbr1"), `${small}count = 5\nstart = "1 s"\n`];
  for (const scenario of scenarios) {
    writeFileSync(path, scenario);
    const native = spawnSync(process.env.ACCORD, ["run", path, "--engine", "packet", "--json"], { cwd: dir, encoding: "utf8" });
    const digests = new Set(native.stdout.match(/"digest": "[0-9a-f]{16}"/g)?.map((one) => one.slice(11, -1)));
    assert.equal(digests.size, 1, native.stderr);
    assert.ok(digests.has(await digest(scenario)), scenario);
  }
});

test("what cannot run ends in a sentence, and the page goes on", { skip }, async () => {
  const quiet = () => page.evaluate(() => (document.querySelector("#message").textContent = ""));
  await page.uncheck("#engine-packet");
  for (const [wrong, sentence] of [
    [small.replace('"vegas"', '"vegas'), /Line 9: /],
    [small.replace('rate = "10 Mbps"', 'rate = { trace = "/etc/passwd" }'), /Line 4: .*folder of the scenario/],
    [small.replace('"10 s"', '"1000000000 h"'), /Line 2: /],
  ]) {
    await quiet();
    await write(wrong);
    await said(sentence);
  }
  // A million flows, and a month: the page answers while they are computed, and the next text replaces them.
  for (const long of [`${small}count = 1000000\n`, small.replace('"10 s"', '"720 h"')]) {
    await page.check("#engine-packet");
    await write(long);
    await page.waitForFunction((long) => window.laboratory.editor.text === long, long);
    await page.click("#run");
    await page.waitForFunction(() => !document.querySelector("#stop").disabled);
    await page.click("#stop");
    await page.uncheck("#engine-packet");
    await write(small);
    await ran(small);
  }
  await page.check("#engine-packet");
});

test("more memory than the bound ends in a sentence, and the engines start again", { skip }, async () => {
  await write(`${small}count = 1000000\nstart = "0 s"\n`);
  await page.click("#run");
  await said(/more than 1 GiB of memory/);
  await write(small);
  await ran(small);
});

test("a file that is dropped opens, or is refused with a sentence", { skip }, async () => {
  const drop = (name, bytes) =>
    page.evaluate(
      ([name, bytes]) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
      },
      [name, [...bytes]],
    );
  await drop("photo.png", [0x89, 0x50, 0, 0xff]);
  await said(/photo\.png is not a scenario: it is not text/);
  await page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([new Uint8Array(9 << 20)], "large.toml"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  });
  await said(/large\.toml is not a scenario: it has \d+ bytes/);
  const mine = small.replace("Mine", "Dropped");
  await drop("mine.toml", Buffer.from(mine));
  await ran(mine);
  assert.equal(await page.locator("#file").innerText(), "mine.toml");
});

test("dropped measurements are drawn over the plots, and what has none is refused", { skip }, async () => {
  const mine = small.replace("vegas", "cubic");
  writeFileSync(join(dir, "mine.toml"), mine);
  const accord = (...args) => {
    const { status, stderr } = spawnSync(process.env.ACCORD, args, { cwd: dir, encoding: "utf8" });
    assert.ok(status === 0 || status === 1, stderr);
  };
  accord("run", "mine.toml", "--engine", "packet", "--qlog", "logs", "--quiet", "-o", "packets");
  accord("import", "run", "logs/a.sqlog", "--group", "a", "-o", "logged");
  await write(mine);
  await ran(mine);
  const drop = (path) =>
    page.evaluate(
      ([name, bytes]) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
      },
      ["series.parquet", [...readFileSync(join(dir, path))]],
    );
  await drop("logged/series.parquet");
  await said(/series\.parquet is drawn over the plots, as live/);
  const shown = () => page.evaluate(() => window.laboratory.result.time.point.engines);
  assert.ok((await shown()).includes("live"));
  // The next result has them, too.
  await page.click("#run");
  await page.waitForFunction(() => window.laboratory.result.digests?.packet && window.laboratory.result.run !== undefined);
  assert.ok((await shown()).includes("live"));
  const [measured, packets] = await page.evaluate(() => {
    const { point, range } = window.laboratory.result.time;
    const { lines } = point.panels.find(({ title }) => title === "Throughput of a flow");
    const mean = (engine) => {
      const { v } = lines.find((line) => point.engines[line.engine] === engine);
      const there = v.slice(v.length / 2).filter((value) => value !== null);
      return there.reduce((sum, value) => sum + value, 0) / there.length;
    };
    return [mean("live"), mean("packet"), range];
  });
  assert.ok(Math.abs(measured / packets - 1) < 0.05, `${measured} and ${packets} Mbps`);
  await page.click("#measured");
  assert.ok(!(await shown()).includes("live"));
  // A file that is dropped before the first result waits for it.
  const before = await page.evaluate(async (bytes) => {
    const { laboratory } = window;
    const { result } = laboratory;
    const { time, last } = result;
    Object.assign(result, { time: undefined, last: undefined });
    await laboratory.measure("early.parquet", new File([new Uint8Array(bytes)], "early.parquet"));
    Object.assign(result, { time, last });
    result.redraw();
    return [document.querySelector("#message").textContent, result.drawsMeasurements()];
  }, [...readFileSync(join(dir, "logged/series.parquet"))]);
  assert.deepEqual(before, ["early.parquet is drawn over the plots once there are some.", true]);
  await page.click("#measured");
  await drop("packets/series.parquet");
  await said(/has no measurements: its engines are packet/);
  await drop("packets/manifest.json");
  await page.waitForFunction(() => window.laboratory.editor.text.startsWith("{"));
  await write(small);
  await ran(small);
});

test("an address opens its text, slider, engines, time axis and lines; a damaged one says so", { skip }, async () => {
  const mine = small.replace("10 Mbps", "13 Mbps");
  await write(mine);
  await ran(mine);
  await page.evaluate(() => window.laboratory.result.time.zoom(2, 5));
  await page.locator(".key button", { hasText: "fluid" }).first().click();
  await page.click("#link");
  await said(/address of/);
  const link = page.url();
  const other = await open(link);
  await other.waitForFunction((text) => window.laboratory?.result.text === text && window.laboratory.result.run !== undefined, mine);
  assert.deepEqual(await other.evaluate(() => window.laboratory.result.lookNow()), { range: [2, 5], hidden: ["engine fluid"] });
  assert.match(await other.locator("#sliders").innerText(), /13 Mbps/);
  await other.close();
  const damaged = await open(`${address}#s=AAAA`);
  await said(/address is damaged/, damaged);
  // A state that would fill the memory, in few letters or in many.
  const bomb = Buffer.from(deflateRawSync(Buffer.alloc(64 * MEGABYTE, " "))).toString("base64url");
  await damaged.evaluate((bomb) => {
    document.querySelector("#message").textContent = "";
    location.hash = `#s=${bomb}`;
  }, bomb);
  await said(/address is damaged/, damaged);
  await damaged.evaluate(() => (location.hash = `#s=${"A".repeat(300_000)}`));
  await said(/address is too long for the laboratory: 300003 characters/, damaged);
  await damaged.waitForFunction(() => window.laboratory?.result.run !== undefined);
  await damaged.close();
});

test("a result is downloaded as its page, and an exercise is graded", { skip }, async () => {
  await write(small);
  await ran(small);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).first().click();
  const saved = await download;
  const { id, name } = await page.evaluate(() => window.laboratory.place);
  assert.equal(saved.suggestedFilename(), `${id ?? name.replace(/\.toml$/, "")}.html`);
  assert.match(readFileSync(await saved.path(), "utf8"), /<title>Mine/);
  const graded = await page.evaluate(async () => {
    const { exercise } = window.laboratory;
    await exercise.open("10-contracts");
    exercise.seed.value = "Ada";
    await exercise.named();
    exercise.answer.value = "0.5";
    await exercise.grade();
    return exercise.verdict.textContent;
  });
  assert.match(graded, /Not yet/);
});

test("the margins and the explanation are shown", { skip }, async () => {
  await page.getByRole("button", { name: "Stability" }).first().click();
  await page.waitForFunction(() => /gain margin|no |stable/i.test(document.querySelector(".notes pre")?.textContent ?? ""));
  await page.getByRole("button", { name: "Explain" }).first().click();
  await page.waitForFunction(() => /Why packets/.test(document.querySelector(".notes")?.textContent ?? ""));
});

test("a lesson asks before it shows its plots, also on a telephone, and the guess is judged in the page", { skip }, async () => {
  const narrow = await open(address, { width: 390, height: 844 });
  await narrow.waitForFunction(() => window.laboratory?.result.run !== undefined);
  const reach = () => narrow.evaluate(() => document.documentElement.scrollWidth);
  assert.ok((await reach()) <= 390, `${await reach()} px wide`);
  assert.match(await narrow.locator("#lesson .question").innerText(), /Why does the window/);
  assert.equal(await narrow.locator(".plots canvas").first().isVisible(), false);
  await narrow.getByLabel("Your guess").fill("5");
  await narrow.getByRole("button", { name: "Guess", exact: true }).click();
  await narrow.locator("#lesson .verdict.pass").waitFor();
  assert.equal(await narrow.locator(".plots canvas").first().isVisible(), true);
  assert.ok((await reach()) <= 390, `${await reach()} px wide`);
  await narrow.close();
});

test("the page loaded nothing, and nothing went wrong", { skip }, () => {
  const foreign = requests.filter((url) => !/^(blob:|data:)/.test(url) && !url.startsWith(address));
  assert.deepEqual(foreign, []);
  assert.deepEqual(problems, []);
});
