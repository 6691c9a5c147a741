// Prints the figures of docs/src/browser.md: ACCORD=the release program with the feature web, CHROMIUM=the browser,
// after tools/web/build and `npm ci --prefix crates/lab/web`. Times are for an idle machine: the load is printed. AGAINST=a
// file of another version gives the ratio of the times until the first plot, taken in turn.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { load } from "../../bindings/javascript/index.js";

const root = new URL("../../", import.meta.url);
const { chromium } = createRequire(new URL("crates/lab/web/package.json", root))("playwright-core");
const TIMES = Number(process.env.TIMES ?? 5);
const dir = mkdtempSync(join(tmpdir(), "accord-measure-"));
const file = join(dir, "lab.html");
const accord = (...args) => {
  const { status, stdout, stderr } = spawnSync(process.env.ACCORD, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout;
};
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const times = async (measure) => {
  const found = [];
  for (let i = 0; i < TIMES; i++) found.push(await measure());
  return found;
};
const bytes = (path) => `${(statSync(path).size / 1e6).toFixed(2)} MB`;

accord("lab", "--save", file);
console.log(`file                     ${bytes(file)}`);
console.log(`module, compressed       ${bytes(new URL("target/web/accord.wasm.gz", root))}`);

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
/** Opens a file, and returns its page with the time of the first frame with a plot, by the page's clock. */
const open = async (path) => {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  await page.addInitScript(() => {
    // They are hidden until the reader has guessed.
    const drawn = new MutationObserver(() => {
      if (!document.querySelector(".plots canvas")) return;
      drawn.disconnect();
      requestAnimationFrame(() => setTimeout(() => (window.firstPlot = performance.now())));
    });
    drawn.observe(document, { childList: true, subtree: true });
  });
  await page.goto(pathToFileURL(path).href, { waitUntil: "commit" });
  const first = await page.waitForFunction(() => window.firstPlot, undefined, { timeout: 120_000 });
  return [page, await first.jsonValue()];
};
const paths = [file, ...(process.env.AGAINST ? [process.env.AGAINST] : [])];
const opened = await times(async () => {
  const each = [];
  for (const path of paths) {
    const [page, ms] = await open(path);
    await page.close();
    each.push(ms);
  }
  return each;
});
const seconds = (found) => `${(median(found) / 1000).toFixed(2)} s`;
console.log(`load                     ${loadavg()[0].toFixed(1)} processes in the last minute`);
console.log(`first plot               ${seconds(opened.map(([ms]) => ms))} after opening, ${(Math.min(...opened.map(([ms]) => ms)) / 1000).toFixed(2)} s at best`);
if (process.env.AGAINST) console.log(`                         ${median(opened.map(([ms, other]) => ms / other)).toFixed(2)} of the other file's ${seconds(opened.map(([, other]) => other))}`);

// From a change of a lesson's text to its plots, without the pause in which the page waits for further changes.
const PAUSE = 80;
const [page] = await open(file);
await page.waitForFunction(() => window.laboratory?.result.run !== undefined, undefined, { timeout: 120_000 });
await page.evaluate(() => window.laboratory.lesson.skip());
const lessons = readdirSync(new URL("crates/lab/lessons", root)).filter((name) => /^\d/.test(name));
const found = [];
const previews = [];
for (const lesson of lessons) {
  const text = readFileSync(new URL(`crates/lab/lessons/${lesson}`, root), "utf8");
  const changed = await times(() =>
    page.evaluate(
      async (text) => {
        const { editor, result, engines } = window.laboratory;
        // The packets of a text that is opened are another matter.
        window.laboratory.engines = () => ["theory", "fluid"];
        const begun = performance.now();
        editor.text = text;
        while (result.text !== text || result.run === undefined) await new Promise((resume) => setTimeout(resume, 1));
        window.laboratory.engines = engines;
        return performance.now() - begun;
      },
      `${text}\n# ${Math.random()}`,
    ),
  );
  found.push(median(changed) - PAUSE);
  const drawn = await times(() =>
    page.evaluate(async (text) => {
      const begun = performance.now();
      await window.laboratory.stream(["theory", "fluid"], text, true);
      return performance.now() - begun;
    }, text),
  );
  previews.push(median(drawn));
}
console.log(`previews                 ${previews.map((ms) => ms.toFixed(0)).join(", ")} ms while a slider of lessons 1 to 12 moves`);
console.log(`theory and fluid         ${found.map((ms) => ms.toFixed(0)).join(", ")} ms after a change of lessons 1 to 12`);
await browser.close();

// Packets in turn, in CPU time: the shortest of each, since the first runs compile the module, and others use the machine.
const engines = await load();
const work = readFileSync(new URL("crates/cli/benches/newreno-10.toml", root), "utf8");
const shortest = { program: Infinity, module: Infinity };
for (let i = 0; i < 2 * TIMES; i++) {
  const [{ cpu_seconds }] = JSON.parse(accord("bench", "newreno-10", "--json"));
  const begun = process.cpuUsage();
  engines.run(work, "packet");
  const { user, system } = process.cpuUsage(begun);
  shortest.program = Math.min(shortest.program, cpu_seconds);
  shortest.module = Math.min(shortest.module, (user + system) / 1e6);
}
console.log(`packets                  ${(shortest.program / shortest.module).toFixed(2)} of the program's speed`);
rmSync(dir, { recursive: true });
