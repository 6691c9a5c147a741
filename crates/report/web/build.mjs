// Bundles src/ into dist/page.js and dist/page.css, which the crate includes. The first
// line of page.js holds a hash of the sources, which a test compares.
import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const sources = ["package.json", "style.css", ...readdirSync("src").sort().map((f) => `src/${f}`)];
let hash = 0xcbf29ce484222325n; // FNV-1a, 64 bits
for (const byte of Buffer.concat(sources.map((f) => readFileSync(f)))) {
  hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
}

const common = { bundle: true, minify: true, write: false, target: "es2020", charset: "utf8" };
const js = await build({ ...common, entryPoints: ["src/main.js"], format: "iife" });
const css = await build({ ...common, entryPoints: ["style.css"] });
const licence = readFileSync("node_modules/uplot/LICENSE", "utf8").trim();

writeFileSync(
  "dist/page.js",
  `/* sources ${hash.toString(16).padStart(16, "0")} */\n/*! Contains uPlot.\n${licence}\n*/\n${js.outputFiles[0].text}`,
);
writeFileSync("dist/page.css", css.outputFiles[0].text);
