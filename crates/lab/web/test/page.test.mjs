// The first minute: the commands of README.md, and the pages that they write, in a real browser. node --test with
// ACCORD=the program and CHROMIUM=the browser.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const dir = mkdtempSync(join(tmpdir(), "accord-page-"));
const readme = readFileSync(new URL("../../../../README.md", import.meta.url), "utf8");
/** The first code block of a language in README.md. */
const block = (language) => readme.match(new RegExp("```" + language + "\\n([^]*?)```"))[1].trimEnd();
const WIDTHS = [
  [1280, 800],
  [390, 844],
];
let browser;

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Runs the program, in a directory of its own. */
const accord = (...args) => spawnSync(process.env.ACCORD, args, { cwd: dir, encoding: "utf8" });

/** Opens a page of a run, and checks what holds for each: no error, nothing wider than the window. */
async function open(path, [width, height], colorScheme = "light") {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.goto(pathToFileURL(join(dir, path)).href);
  await page.locator("canvas").first().waitFor();
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const reach = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(reach <= width, `${path} is ${reach} px wide in a window of ${width}`);
  assert.deepEqual(problems, [], path);
  return page;
}

/** The first plot: its title, the place of its canvas, and the number of colours that are drawn. */
const first = (page) =>
  page.evaluate(() => {
    const canvas = document.querySelector("canvas");
    const { top, bottom } = canvas.getBoundingClientRect();
    const data = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    const heading = canvas.closest("article").querySelector("h3");
    const title = heading.querySelector("select")?.selectedOptions[0].textContent ?? heading.textContent;
    return { title, top, bottom, colours: new Set(data).size };
  });

/** Pairs of texts in the first panel that overlap. */
const overlaps = (page) =>
  page.evaluate(() => {
    const panel = document.querySelector("#figure article");
    const parts = [...panel.querySelectorAll("h3 > *, :scope > label > *, .legend > *")];
    const shown = parts.map((part) => [part.textContent, part.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
    const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
    return shown.flatMap(([a, boxA], i) => shown.slice(i + 1).filter(([, boxB]) => !apart(boxA, boxB)).map(([b]) => [a, b]));
  });

test("the first command of README ends in a sentence, and its page begins with the figure", async () => {
  const [command] = block("sh").split("\n");
  const [program, args] = command.replace(/\s+#.*/, "").split(" -- ");
  assert.equal(program, "cargo run --release");
  const ended = accord(...args.split(" "));
  assert.equal(ended.status, 0, ended.stderr);
  const last = block("text");
  assert.equal(ended.stderr.trimEnd().split("\n").at(-1), last);
  const path = last.match(/page: (\S+)/)[1];
  for (const size of WIDTHS) {
    const page = await open(path, size);
    const plot = await first(page);
    assert.match(plot.title, /^Throughput of a flow/);
    // The whole plot is in the window before the reader scrolls.
    assert.ok(plot.top > 0 && plot.top < 300 && plot.bottom < 600, JSON.stringify(plot));
    assert.ok(plot.colours > 20, `${plot.colours} colours`);
    assert.deepEqual(await overlaps(page), []);
    const named = await page.locator("#figure article").first().locator("select option:checked").textContent();
    assert.equal(named, "law = xia05", "the paper's law comes first");
    await page.close();
  }
});

test("README's scenario has a page with its name and its plot at the top", async () => {
  const text = block("toml");
  const name = text.match(/^# (\S+\.toml)/)[1];
  writeFileSync(join(dir, name), text);
  assert.equal(accord("run", name).status, 0);
  for (const size of WIDTHS) {
    const page = await open(`runs/${name.replace(".toml", "")}/page.html`, size);
    const plot = await first(page);
    assert.ok(plot.bottom < 600 && plot.colours > 20, JSON.stringify(plot));
    assert.equal(await page.locator("h1").innerText(), "weights");
    await page.close();
  }
});

const SWEEP = `title = "Buffers, rates and two controllers"
duration = "4 s"
topology.dumbbell = { rate = "10 Mbps", delay = "20 ms", queue = { discipline = "droptail", limit = "20 pkt" } }
flow.a = { from = "left", to = "right", controller = "newreno", count = 2 }
flow.b = { from = "left", to = "right", controller = "vegas" }
[sweep.buffer]
set = ["topology.dumbbell.queue.limit"]
values = ["10 pkt", "20 pkt", "40 pkt", "80 pkt"]
[sweep.rate]
set = ["topology.dumbbell.rate"]
values = ["5 Mbps", "10 Mbps"]
`;

test("a sweep's page begins with the sweep, in light and dark, on a screen and a telephone, and prints", async () => {
  writeFileSync(join(dir, "sweep.toml"), SWEEP);
  assert.equal(accord("run", "sweep.toml", "--engine", "theory,packet").status, 0);
  for (const scheme of ["light", "dark"]) {
    for (const size of WIDTHS) {
      const page = await open("runs/sweep/page.html", size, scheme);
      const plot = await first(page);
      assert.match(plot.title, /^utilisation of bottleneck/);
      assert.ok(plot.bottom < 600 && plot.colours > 20, JSON.stringify(plot));
      const lead = page.locator("#figure .lead");
      assert.equal(await lead.count(), 1);
      // A long name of a point is beside the plot's title or above it, never on it.
      const boxes = await lead.locator("label, h3").evaluateAll((all) => all.map((one) => [...one.children].map((part) => part.getBoundingClientRect().toJSON())));
      const [label, title] = boxes.map((parts) => ({ left: Math.min(...parts.map((p) => p.left)), top: Math.min(...parts.map((p) => p.top)), bottom: Math.max(...parts.map((p) => p.bottom)) }));
      const right = Math.max(...boxes[1].map((p) => p.right));
      assert.ok(label.bottom <= title.top + 1 || right <= label.left + 1, JSON.stringify({ label, title, right }));
      if (scheme === "light" && size[0] === 1280) {
        // On paper the plots are drawings, and the point that a plot shows is named.
        await page.emulateMedia({ media: "print" });
        await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
        assert.ok((await page.locator(".paper svg").count()) > 4);
        assert.ok(await lead.locator("select").isVisible());
        assert.equal(await page.locator("canvas").first().isVisible(), false);
      }
      await page.close();
    }
  }
});
