// Lessons, exercises and what students hand in, in a real browser: node --test with ACCORD=the program and CHROMIUM=the
// browser.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { Work } from "../src/work.js";

const dir = mkdtempSync(join(tmpdir(), "accord-lessons-"));
let lab, browser, page;
const problems = [];

before(async () => {
  lab = spawn(process.env.ACCORD, ["lab"], { cwd: dir });
  lab.stderr.pipe(process.stderr);
  const url = await new Promise((resolve, reject) => {
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
});

after(async () => {
  await browser?.close();
  lab?.kill("SIGINT");
  rmSync(dir, { recursive: true, force: true });
});

const drawn = () => page.waitForFunction(() => window.laboratory?.result.run !== undefined);
const lesson = () => page.locator("#lesson");
const button = (name) => page.getByRole("button", { name, exact: true });
async function open(id) {
  await page.selectOption("#gallery", id);
  await page.waitForFunction((id) => window.laboratory.place.id === id && window.laboratory.lesson.lesson && document.querySelector("#lesson .question"), id);
  await drawn();
}
const shown = () => page.locator(".plots canvas").first().isVisible();
const said = (pattern) => page.waitForFunction((source) => new RegExp(source).test(document.querySelector("#message").textContent), pattern.source);
async function named(name) {
  await page.getByLabel("Your name").fill(name);
  await page.getByLabel("Your name").blur();
  await page.waitForFunction((name) => window.laboratory.exercise.student === name, name);
}

test("a lesson shows its question first, and the result next to the guess", async () => {
  await drawn();
  assert.match(await lesson().locator(".question").innerText(), /Why does the window of NewReno/);
  assert.equal(await shown(), false, "the plots follow the guess");
  assert.ok(!(await lesson().innerText()).includes("Look:"), "what to look at follows the guess");
  assert.ok(!(await page.evaluate(() => window.laboratory.editor.text)).includes("#"), "the text is no comment");
  await page.getByLabel("Your guess").fill("2.5");
  await button("Guess").click();
  await lesson().locator(".verdict.fail").waitFor();
  assert.equal(await shown(), true);
  const rows = await lesson().locator("tr").allInnerTexts();
  assert.match(rows[0], /Your guess\s+2.5 Mbps/);
  assert.match(rows.join("\n"), /throughput of flow late, packet\s+\d\.\d+ Mbps/);
  assert.match(await lesson().innerText(), /times as much|% more/);
  assert.match(await lesson().innerText(), /Look: .*\n[^]*Try: /);
});

test("a guess is kept, and a lesson without one asks again", async () => {
  await button("Next").click();
  await page.waitForFunction(() => window.laboratory.place.id === "02-vegas" && /losing packets/.test(document.querySelector("#lesson").innerText));
  await drawn();
  assert.equal(await shown(), false);
  await button("Previous").click();
  await page.waitForFunction(() => window.laboratory.place.id === "01-aimd" && document.querySelector("#lesson .verdict"));
  assert.match((await lesson().locator("tr").allInnerTexts())[0], /2.5 Mbps/);
  await open("03-parking-lot");
  assert.equal(await shown(), false);
  await button("Show without a guess").click();
  assert.equal(await shown(), true);
  assert.match(await lesson().innerText(), /proportional fairness/);
});

test("a choice is judged by a run", async () => {
  await open("04-base-rtt");
  await page.getByLabel("early, which was there first").check();
  await button("Guess").click();
  await lesson().locator(".verdict.fail").waitFor();
  assert.match(await lesson().locator(".verdict").innerText(), /The answer is: late\./);
  assert.match((await lesson().locator("tr").allInnerTexts()).join("\n"), /throughput of flow late, theory\s+6\.1\d Mbps/);
});

test("all twelve lessons fit a telephone, and ask in words", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  const ids = await page.evaluate(() => window.laboratory.entries.filter(({ lesson }) => lesson).map(({ id }) => id));
  assert.equal(ids.length, 12);
  for (const id of ids) {
    await page.selectOption("#gallery", id);
    await page.waitForFunction((id) => window.laboratory.lesson.id === id && window.laboratory.lesson.lesson && !document.querySelector("#lesson").hidden, id);
    const reach = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(reach <= 390, `${id} is ${reach} px wide`);
    assert.match(await lesson().locator(".guess p, .guess").first().innerText(), /\?/);
  }
  await page.setViewportSize({ width: 1400, height: 900 });
});

test("attempts are recorded by name, handed in, and graded by the program", async () => {
  await named("");
  await open("10-contracts");
  await button("Hand in").click();
  await said(/Enter your name/);
  const folder = join(dir, "handed-in");
  mkdirSync(folder);
  for (const name of ["Ada", "Łukasz, B."]) {
    await named(name);
    const question = page.locator("#exercise details p").first();
    await page.evaluate(() => (document.querySelector("#exercise details").open = true));
    await page.waitForFunction(() => /Mbps/.test(document.querySelector("#exercise details p").innerText));
    const [, rate, target] = /have ([0-9.]+) Mbps.* gives gold ([0-9.]+) Mbps/.exec(await question.innerText());
    for (const [answer, verdict] of [
      [0.5, "fail"],
      [(3 * target - rate) / 2, "pass"],
    ]) {
      await page.getByLabel("Answer").fill(String(answer));
      await button("Check").click();
      await page.locator(`#exercise .verdict.${verdict}`).waitFor();
      assert.doesNotMatch(await page.locator("#exercise .verdict").innerText(), /`/);
    }
    assert.match(await page.locator("#exercise .record").innerText(), /0\.5, .* Attempt 2 was right/);
    const download = page.waitForEvent("download");
    await button("Hand in").click();
    const saved = await download;
    assert.match(saved.suggestedFilename(), /^accord-lab-(Ada|Łukasz-B-)\.txt$/);
    await saved.saveAs(join(folder, saved.suggestedFilename()));
  }
  const line = readFileSync(join(folder, "accord-lab-Ada.txt"), "utf8");
  writeFileSync(join(folder, "eve.txt"), line.replaceAll("Ada", "Eve"));
  const csv = join(dir, "class.csv");
  const graded = spawnSync(process.env.ACCORD, ["lab", "grade", folder, "--csv", csv], { encoding: "utf8" });
  assert.equal(graded.status, 0, graded.stderr);
  const [, ada, eve, other] = graded.stdout.trimEnd().split("\n");
  assert.match(ada, /^Ada +1\/5 +\d +.*right at 2$/);
  assert.match(eve, /^Eve .*the line was changed after it was signed/);
  assert.match(other, /^Łukasz, B\. +1\/5 .*right at 2/);
  assert.match(readFileSync(csv, "utf8"), /\nAda,1,\d,.*\n.*Eve,.*\n"Łukasz, B\.",1,/);
});

test("a folder without a line ends with a reason", () => {
  const empty = join(dir, "empty");
  mkdirSync(empty);
  writeFileSync(join(empty, "photo.png"), Buffer.from([0x89, 0x50, 0, 0xff]));
  const graded = spawnSync(process.env.ACCORD, ["lab", "grade", empty], { encoding: "utf8" });
  assert.equal(graded.status, 2);
  assert.match(graded.stderr, /not graded: photo\.png/);
  assert.match(graded.stderr, /no line that a student handed in/);
});

test("damaged records of a browser are no work, and a browser without storage keeps the work of the page", () => {
  for (const damaged of ["", "[]", '"x"', '{"=ada":3}', '{"=ada":{"guesses":[1],"attempts":{"02-vegas":[3]}}}', '{"=ada":{"guesses":{"x":"y"}}}']) {
    const work = new Work({ getItem: () => damaged, setItem: () => {} });
    assert.deepEqual(work.of("Ada"), { guesses: {}, attempts: {} }, damaged);
  }
  const work = new Work(null);
  work.guess("", "01-aimd", 3);
  work.guess("", "01-aimd", 4);
  work.adopt(" Ada");
  work.attempt("ada ", "02-vegas", 1, false);
  work.attempt("Ada", "02-vegas", 2, true);
  work.attempt("Ada", "02-vegas", 3, true);
  assert.deepEqual(work.handed("Ada "), { student: "Ada", guesses: { "01-aimd": 3 }, attempts: { "02-vegas": [1, 2] } });
  assert.deepEqual(work.of("").guesses, {});
});

test("nothing went wrong on the way", () => {
  assert.deepEqual(problems, []);
});
