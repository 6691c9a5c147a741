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
    lab.once("exit", (code) => reject(new Error(`accord lab ended with ${code} before it printed its address`)));
  });
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  // On a busy machine a step may take minutes.
  page.setDefaultTimeout(300_000);
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.goto(url);
  await ran(small);
});

after(async () => {
  await browser?.close();
  lab?.kill("SIGINT");
  rmSync(dir, { recursive: true, force: true });
});

/** The means of the current result, as text. */
const means = () => page.locator("#means").first().innerText();
const plots = () => page.locator(".plots .panel, .plots .uplot").count();
const text = () => page.evaluate(() => window.laboratory.editor.text);
const write = (text) => page.evaluate((text) => (window.laboratory.editor.text = text), text);
/** Waits until the current result is of a text, and complete. */
const ran = (text) => page.waitForFunction((text) => window.laboratory?.result.text === text && window.laboratory.result.run !== undefined, text);
/** Opens an entry of the gallery, and waits until it has run. */
async function open(id) {
  await page.selectOption("#gallery", id);
  await page.waitForFunction((id) => window.laboratory.place.id === (id === "file" ? null : id), id);
  await page.evaluate(() => window.laboratory.lesson.skip());
  await ran(await text());
}
const said = (pattern) => page.waitForFunction((source) => new RegExp(source).test(document.querySelector("#message").textContent), pattern.source);

/** Does something during which the page asks, and answers: null dismisses. Returns the questions. */
async function asked(answers, action) {
  const questions = [];
  const reply = async (dialog) => {
    questions.push(dialog.message());
    const answer = answers[questions.length - 1];
    await (answer === null || answer === undefined ? dialog.dismiss() : dialog.accept(answer));
  };
  page.on("dialog", reply);
  await page.evaluate(() => (document.querySelector("#message").textContent = ""));
  await action();
  page.off("dialog", reply);
  assert.equal(questions.length, answers.length, questions.join("\n"));
  return questions;
}

test("what is ticked runs when a file is opened, and is drawn with the network", async () => {
  assert.match(await page.locator(".result h2").first().innerText(), /Mine/);
  assert.ok((await plots()) > 3);
  assert.match(await page.locator("#network").innerHTML(), /10 Mbps, 20 ms/);
  assert.match(await means(), /10\.00 Mbps/);
  assert.match(await means(), /packet/i);
});

test("a slider changes the text and the plots", async () => {
  const slider = page.getByLabel("topology.dumbbell.rate", { exact: true });
  await slider.focus();
  for (let i = 0; i < 21; i++) await slider.press("ArrowRight");
  await page.waitForFunction(() => !/10\.00 Mbps/.test(document.querySelector("#means").innerText));
  const rate = Number(/rate = "([0-9.]+) Mbps"/.exec(await text())[1]);
  assert.ok(rate > 10, await text());
});

test("a mistake is shown at its place, and mended", async () => {
  await write(small.replace("vegas", "vega"));
  await page.waitForSelector(".cm-lintRange-error");
  assert.match(await page.locator("#message").innerText(), /Line 9: .*vega/);
  await write(small);
  await page.waitForSelector(".cm-lintRange-error", { state: "detached" });
});

test("plots keep their axis of time while lines are hidden", async () => {
  const key = () => page.locator(".key").first().getByRole("button", { name: "packet", exact: true });
  const axes = () => page.evaluate(() => window.laboratory.result.time.panels.map(({ plot }) => [plot.scales.x.min, plot.scales.x.max]));
  await page.click("#run");
  await ran(small);
  await key().click();
  await page.click("#run");
  await ran(small);
  assert.equal(await key().getAttribute("aria-pressed"), "false");
  for (const range of await axes()) assert.deepEqual(range, [0, 10]);
  await key().click();
});

test("undo stays within the text that was opened", async () => {
  await open("02-vegas");
  const opened = await text();
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+z");
  assert.equal(await text(), opened);
  await open("file");
  assert.equal(await text(), small);
});

test("a typed number gets a slider around it, with its value in words", async () => {
  await write(small.replace("10 Mbps", "1000 Mbps"));
  const slider = page.getByLabel("topology.dumbbell.rate", { exact: true });
  await slider.focus();
  await slider.press("ArrowLeft");
  const rate = Number(/rate = "([0-9.]+) Mbps"/.exec(await text())[1]);
  assert.ok(rate > 900 && rate < 1000, await text());
  assert.equal(await slider.getAttribute("aria-valuetext"), `${rate} Mbps`);
  await write(small);
  await ran(small);
});

test("without a ticked engine theory and the fluid engine run, and the page says so", async () => {
  for (const engine of ["theory", "fluid", "packet"]) await page.uncheck(`#engine-${engine}`);
  await page.click("#run");
  await said(/No engine is ticked/);
  await ran(small);
  assert.doesNotMatch(await means(), /packet/i);
  for (const engine of ["theory", "fluid", "packet"]) await page.check(`#engine-${engine}`);
  await page.click("#run");
  await ran(small);
});

test("keys are completed", async () => {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("sta");
  const list = page.locator(".cm-tooltip-autocomplete");
  await list.waitFor();
  assert.match(await list.innerText(), /start/);
  await page.keyboard.press("Escape");
  await write(small);
  await ran(small);
});

test("packets run and are exported", async () => {
  await page.click("#run");
  await page.waitForFunction(() => /packet/i.test(document.querySelector("#means")?.innerText ?? ""));
  await ran(small);
  await page.getByRole("button", { name: "Export" }).first().click();
  await said(/Written/);
  assert.ok(existsSync(join(dir, "runs", "mine-lab-1", "series.parquet")), readdirSync(dir).join());
});

test("kept results are named after their settings, and share their axes", async () => {
  const faster = small.replace("10 Mbps", "40 Mbps");
  await page.getByRole("button", { name: "Keep for comparison" }).click();
  await write(faster);
  await ran(faster);
  await page.getByRole("button", { name: "Keep for comparison" }).click();
  const longer = faster.replace('"10 s"', '"20 s"');
  await write(longer);
  await ran(longer);
  const titles = await page.locator(".result > header h2").allInnerTexts();
  assert.deepEqual(titles, [
    "Mine duration = 20 s, rate = 40 Mbps",
    "Mine duration = 10 s, rate = 10 Mbps",
    "Mine duration = 10 s, rate = 40 Mbps",
  ]);
  const axes = () =>
    page.evaluate(() =>
      window.laboratory.results().map(({ time }) => time.panels.map(({ panel, plot }) => [panel.title, plot.scales.x.min, plot.scales.x.max, plot.scales.y.min, plot.scales.y.max])),
    );
  const [now, ...kept] = await axes();
  assert.ok(now.length > 3 && now.every(([, , end]) => end === 20));
  const throughput = now.find(([title]) => /throughput/i.test(title));
  assert.ok(throughput[4] >= 40, throughput.join());
  for (const one of kept) assert.deepEqual(one, now);
  // A zoom in one is a zoom in all.
  await page.evaluate(() => window.laboratory.others[0].time.zoom(2, 5));
  for (const one of await axes()) assert.ok(one.every(([, from, to]) => from === 2 && to === 5));
  await page.evaluate(() => window.laboratory.result.time.zoomAll());
  await page.getByRole("button", { name: "Remove" }).first().click();
  await page.getByRole("button", { name: "Remove" }).first().click();
  assert.deepEqual(await page.locator(".result > header h2").allInnerTexts(), ["Mine"]);
});

test("a long run streams, and stops when asked", async () => {
  const long = small.replace('"10 s"', '"20000 s"');
  await write(long);
  await page.waitForFunction((long) => window.laboratory.result.text === long, long);
  await page.uncheck("#engine-fluid");
  await page.click("#run");
  await page.waitForFunction(() => /packet [1-9]/.test(document.querySelector(".status").textContent));
  await page.click("#stop");
  await page.waitForFunction(() => document.querySelector("#stop").disabled);
  assert.equal(await page.locator(".status").first().innerText(), "stopped");
  await page.check("#engine-fluid");
  await write(small);
  await ran(small);
});

test("a lesson of which only packets have figures says so", async () => {
  await page.uncheck("#engine-packet");
  await open("12-clcc");
  await page.waitForFunction(() => /Run computes its packets/.test(document.querySelector(".plots").innerText));
  await page.check("#engine-packet");
  await page.click("#run");
  await page.waitForFunction(() => document.querySelector(".plots").querySelectorAll(".uplot").length > 3);
  assert.equal(await page.locator(".plots .nothing").count(), 0);
});

test("a lesson opens with the paths of all its flows, its packets, and its expectations", async () => {
  await open("03-parking-lot");
  assert.match(await page.locator(".result h2").first().innerText(), /parking lot/);
  assert.equal(await page.locator("#file").innerText(), "03-parking-lot");
  assert.equal(await page.locator("#network polyline").count(), 4, "a long flow and three short ones");
  assert.match(await means(), /packet/i);
  assert.match(await page.locator("#checks").innerText(), /a quarter/);
});

test("a text is kept over a reload and another lesson, until the original is asked for", async () => {
  await open("02-vegas");
  const lesson = await text();
  const mine = lesson.replace('rate = "10 Mbps"', 'rate = "20 Mbps"');
  await write(mine);
  assert.equal(await page.locator("#file").innerText(), "02-vegas, changed");
  await page.reload();
  await ran(mine);
  await open("01-aimd");
  assert.notEqual(await text(), mine);
  assert.equal(await page.locator("#original").isHidden(), true);
  await open("02-vegas");
  assert.equal(await text(), mine);
  await said(/Your changes to 02-vegas are back/);
  await asked([null], () => page.click("#original"));
  assert.equal(await text(), mine);
  await asked([""], () => page.click("#original"));
  assert.equal(await text(), lesson);
  await page.reload();
  await ran(lesson);
});

test("a browser that keeps no texts asks before one is lost", async () => {
  const lesson = await text();
  await page.evaluate(() => (window.laboratory.drafts.storage = null));
  await write(`${lesson}# mine\n`);
  await asked([null], () => page.selectOption("#gallery", "01-aimd"));
  assert.equal(await text(), `${lesson}# mine\n`);
  await write(lesson);
  await page.reload();
  await ran(lesson);
});

test("a lesson is saved under a name, and replaces a file only if that is meant", async () => {
  await open("03-parking-lot");
  const before = readFileSync(file, "utf8");
  const saveAs = () => page.click("#save-as");
  await asked([null], saveAs);
  await asked(["../mine.toml"], async () => {
    await saveAs();
    await said(/no name for a scenario file/);
  });
  const [, question] = await asked(["mine.toml", null], async () => {
    await saveAs();
    await said(/mine\.toml exists/);
  });
  assert.match(question, /mine\.toml exists\. Replace it\?/);
  assert.equal(readFileSync(file, "utf8"), before);
  await asked(["lot.toml"], async () => {
    await saveAs();
    await said(/Saved: lot\.toml/);
  });
  assert.equal(readFileSync(join(dir, "lot.toml"), "utf8"), await text());
  // The file is open now, and Save writes it without a question.
  await write(`${await text()}# mine\n`);
  await asked([], async () => {
    await page.click("#save");
    await said(/Saved: lot\.toml/);
  });
  assert.match(readFileSync(join(dir, "lot.toml"), "utf8"), /# mine/);
  // Another program's text is not lost without a question.
  writeFileSync(join(dir, "lot.toml"), "# theirs");
  await asked([null], async () => {
    await page.click("#save");
    await said(/changed or removed by another tab or program/);
  });
  assert.equal(readFileSync(join(dir, "lot.toml"), "utf8"), "# theirs");
});

test("two tabs have files of their own, and neither loses a text of the other without a question", async () => {
  const [mine, lot] = [readFileSync(file, "utf8"), join(dir, "lot.toml")];
  const shows = (tab, text) => tab.waitForFunction((text) => window.laboratory?.editor.text === text, text);
  const put = (tab, text) => tab.evaluate((text) => (window.laboratory.editor.text = text), text);
  const saved = (tab, name) => tab.waitForFunction((name) => document.querySelector("#message").textContent === `Saved: ${name}`, name);
  const tab = async () => {
    const tab = await browser.newPage();
    tab.setDefaultTimeout(300_000);
    await tab.goto(url);
    return tab;
  };
  writeFileSync(lot, small);
  await page.selectOption("#gallery", "file");
  await shows(page, small);
  const other = await tab();
  await shows(other, small);
  // The other tab saves under another name; Save of this one writes to its own file.
  other.once("dialog", (dialog) => dialog.accept("other.toml"));
  await put(other, `${small}# other\n`);
  await other.click("#save-as");
  await saved(other, "other.toml");
  await write(`${small}# this\n`);
  await asked([], async () => {
    await page.click("#save");
    await saved(page, "lot.toml");
  });
  assert.equal(readFileSync(join(dir, "other.toml"), "utf8"), `${small}# other\n`);
  assert.equal(readFileSync(lot, "utf8"), `${small}# this\n`);
  // Two tabs have one file: the second Save asks.
  const third = await tab();
  await shows(third, `${small}# this\n`);
  await put(third, `${small}# third\n`);
  await third.click("#save");
  await saved(third, "lot.toml");
  await write(`${small}# lost?\n`);
  const [question] = await asked([null], async () => {
    await page.click("#save");
    await said(/changed or removed by another tab or program/);
  });
  assert.match(question, /Replace it\?/);
  assert.equal(readFileSync(lot, "utf8"), `${small}# third\n`);
  assert.equal(readFileSync(file, "utf8"), mine);
  // A tab that is loaded again has its own file.
  await other.reload();
  await shows(other, `${small}# other\n`);
  await other.close();
  await third.close();
});

test("a text is downloaded under its name", async () => {
  await open("02-vegas");
  const download = page.waitForEvent("download");
  await page.click("#download");
  const saved = await download;
  assert.equal(saved.suggestedFilename(), "02-vegas.toml");
  assert.equal(readFileSync(await saved.path(), "utf8"), await text());
});

test("an exercise has numbers of the student's own, and is graded without an answer in the page", async () => {
  const exercise = page.locator("#exercise");
  await exercise.locator("summary").click();
  const question = () => exercise.locator("p").first().innerText();
  const seen = new Set([await question()]);
  for (const name of ["Ada", "Grace", "Radia", "Sally", "Barbara"]) {
    await page.evaluate((name) => {
      const { exercise } = window.laboratory;
      exercise.seed.value = name;
      return exercise.named();
    }, name);
    seen.add(await question());
  }
  assert.ok(seen.size > 1);
  const [, rate, target] = /have ([0-9.]+) Mbps.* gives a ([0-9.]+) Mbps/.exec(await question());
  const verdict = (pattern) => page.waitForFunction((source) => new RegExp(source).test(document.querySelector("#exercise .verdict").textContent), pattern.source);
  const answer = async (value) => {
    await exercise.getByLabel("Answer").fill(String(value));
    await exercise.getByRole("button", { name: "Check" }).click();
  };
  await answer(1);
  await verdict(/Not yet/);
  await answer((3 * target) / (rate - target));
  await verdict(/Right/);
});

test("nothing went wrong on the way", () => {
  // Refusals of the server are reported by the browser as well.
  const refusal = /status of (400|409)/;
  assert.deepEqual(
    problems.filter((problem) => !refusal.test(problem)),
    [],
  );
});

test("the end of the server is reported with the way to go on", async () => {
  const ended = new Promise((resolve) => lab.once("exit", resolve));
  lab.kill("SIGINT");
  await ended;
  await page.click("#run");
  await said(/server has ended\. Start it again with accord lab/);
  await write(`${await text()}# after the end\n`);
  const kept = await page.evaluate(() => window.laboratory.drafts.read(window.laboratory.place.key).text);
  assert.match(kept, /after the end/);
});
