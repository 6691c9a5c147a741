// The laboratory in one file, from a disk in Firefox and WebKitGTK: node --test with ACCORD=the program, built with the
// feature web, FIREFOX=the browser, and WEBKIT=the command of its WebDriver (webkit.mjs). PICTURES=a folder takes pictures.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Firefox } from "./marionette.mjs";
import { WebKit } from "./webkit.mjs";

const dir = mkdtempSync(join(tmpdir(), "accord-others-"));
const file = join(dir, "lab.html");
const accord = (...args) => spawnSync(process.env.ACCORD, args, { cwd: dir, encoding: "utf8" });
after(() => rmSync(dir, { recursive: true, force: true }));
const saved = accord("lab", "--save", file);
const without = /does not carry the engines/.test(saved.stderr);
if (!without) assert.equal(saved.status, 0, saved.stderr);

for (const [name, Browser, variable] of [
  ["Firefox", Firefox, "FIREFOX"],
  ["WebKitGTK", WebKit, "WEBKIT"],
]) {
  const command = process.env[variable];
  const skip = without ? "the program does not carry the engines for browsers" : command ? false : `${variable} is not set`;
  if (skip) console.error(`SKIPPED: the laboratory in ${name}: ${skip}`);
  describe(name, { skip }, () => {
    let browser;

    before(async () => {
      browser = await Browser.start(command);
      await browser.open(pathToFileURL(file).href);
    });

    after(() => browser?.end());

    test("the first lesson opens from a disk, its guess is judged, and it plots", async () => {
      await browser.until("window.laboratory?.result.run !== undefined");
      assert.match(await browser.value("document.querySelector('#lesson .question').innerText"), /Why does the window/);
      await browser.value("(document.querySelector('[aria-label=\"Your guess\"]').value = '5', document.querySelector('#lesson form').requestSubmit())");
      await browser.until("document.querySelector('#lesson .verdict.pass')");
      assert.ok((await browser.value("document.querySelectorAll('.plots .uplot').length")) > 3);
      const colours = await browser.value(`(() => {
        const canvas = document.querySelector(".plots canvas");
        return new Set(new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
      })()`);
      assert.ok(colours > 20, `${colours} colours`);
      if (process.env.PICTURES) writeFileSync(join(process.env.PICTURES, `${name}.png`), await browser.picture());
    });

    test("its packets have the digest of the program, and a slider moves theory", async () => {
      const lesson = readFileSync(new URL("../../lessons/01-aimd.toml", import.meta.url), "utf8");
      writeFileSync(join(dir, "01-aimd.toml"), lesson);
      const native = accord("run", "01-aimd.toml", "--engine", "packet", "--json");
      const [, digest] = /"digest": "([0-9a-f]{16})"/.exec(native.stdout);
      assert.equal(await browser.value("window.laboratory.result.digests.packet"), digest);
      await browser.value(`(() => {
        const slider = document.querySelector('[aria-label="topology.dumbbell.rate"]');
        slider.value = 0.7;
        slider.dispatchEvent(new Event("input"));
      })()`);
      await browser.until("window.laboratory.result.text === window.laboratory.editor.text && window.laboratory.result.run !== undefined");
      assert.ok(!/10\.00 Mbps/.test(await browser.value("document.querySelector('#means').innerText")));
    });
  });
}
