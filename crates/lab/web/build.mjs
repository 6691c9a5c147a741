// Bundles src/ into dist/lab.html, which the crate includes, and docs/live/live.js, which runs the scenarios in the book.
// The first line of each holds a hash of the sources, with those of the page of results. A test compares it.
import { build } from "esbuild";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";

const page = "../../report/web";
const sources = [
  "package.json",
  "lab.css",
  "live.css",
  ...readdirSync("src").sort().map((f) => `src/${f}`),
  `${page}/style.css`,
  ...readdirSync(`${page}/src`).sort().map((f) => `${page}/src/${f}`),
];
let hash = 0xcbf29ce484222325n; // FNV-1a, 64 bits
for (const byte of Buffer.concat(sources.map((f) => readFileSync(f)))) {
  hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
}

const common = { bundle: true, minify: true, write: false, target: "es2022", charset: "utf8", nodePaths: ["node_modules"] };
const worker = await build({ ...common, entryPoints: ["src/worker.js"], format: "iife" });
// The page makes its workers of this text.
const define = { WORKER: JSON.stringify(worker.outputFiles[0].text) };
const start = await build({ ...common, define, entryPoints: ["src/start.js"], format: "iife" });
const js = await build({ ...common, entryPoints: ["src/main.js"], format: "iife", legalComments: "eof" });
const script = (built) => `<script>${built.outputFiles[0].text.replaceAll("</script", "<\\/script")}</script>`;
const css = await build({ ...common, entryPoints: ["lab.css"] });
// The packages in the page, with their licences: MIT, ISC or BSD.
const packages = ["uplot", "d3-force", "hyparquet", "@codemirror/view", "@codemirror/legacy-modes"];
const licences = packages.map((name) => `${name}\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}`);

// The plots' style within the blocks of the book, whose own style has everything else.
const style = readFileSync(`${page}/style.css`, "utf8");
const colours = (from) => style.slice(style.indexOf("{", style.indexOf(from)) + 1).split("}")[0].replace("color-scheme: light dark;", "");
const scoped = style.slice(style.indexOf("* { box-sizing")).replace(/@page \{.*\}\n/, "");
// mdbook's rem is 10 px, not 16.
const small = (css) => css.replace(/([0-9.]+)rem/g, (_, n) => `${(1.6 * n).toFixed(2)}rem`);
const live = await build({
  ...common,
  stdin: {
    contents: `@import "uplot/dist/uPlot.min.css";
html { ${colours(":root {")} }
html:is(.coal, .navy, .ayu) { ${colours(":root:not(.print) {")} }
.accord-live { ${small(scoped)} }
${small(readFileSync("live.css", "utf8"))}`,
    loader: "css",
    resolveDir: ".",
  },
});
const book = await build({ ...common, define: { ...define, STYLE: JSON.stringify(live.outputFiles[0].text) }, entryPoints: ["src/book.js"], format: "iife" });
const stamp = `sources ${hash.toString(16).padStart(16, "0")}`;
mkdirSync("../../../docs/live", { recursive: true });
writeFileSync("../../../docs/live/live.js", `// ${stamp}\n// Contains\n${licences[0].replace(/^/gm, "// ")}\n${book.outputFiles[0].text}`);
mkdirSync("dist", { recursive: true });
writeFileSync(
  "dist/lab.html",
  `<!doctype html><!-- ${stamp} -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; connect-src 'self'; img-src data: blob:; worker-src blob:; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; style-src 'unsafe-inline'">
<title>Accord laboratory</title>
<!-- Contains
${licences.join("\n\n").replaceAll("--", "- -")}
-->
<style>${css.outputFiles[0].text}</style>
</head>
<body>
<header id="bar">
<h1>Accord</h1>
<select id="gallery" aria-label="Lessons and experiments"></select>
<span id="file"></span>
<button type="button" id="save" hidden>Save</button>
<button type="button" id="save-as" class="served">Save as …</button>
<button type="button" id="download">Download</button>
<button type="button" id="link" title="Copies an address that opens this text">Link</button>
<button type="button" id="original" hidden>Original</button>
<button type="button" id="measured" hidden title="Removes the measurements from the plots">Without measurements</button>
<select id="point" aria-label="Point of the sweep" hidden></select>
<span class="engines">
<label><input type="checkbox" id="engine-theory" checked> theory</label>
<label><input type="checkbox" id="engine-fluid" checked> fluid</label>
<label><input type="checkbox" id="engine-packet" checked> packet</label>
<label class="served"><input type="checkbox" id="engine-live"> live</label>
</span>
<button type="button" id="run" title="Ctrl-Enter">Run</button>
<button type="button" id="stop" disabled>Stop</button>
<span id="message" role="alert"></span>
</header>
<aside id="teach">
<section id="lesson" aria-label="Lesson" hidden></section>
<section id="exercise" aria-label="Exercise" hidden></section>
</aside>
<main id="draft">
<div id="editor"></div>
<div id="network"></div>
<div id="sliders" role="group" aria-label="Numbers of the scenario"></div>
</main>
<section id="results" aria-label="Results"><p id="first">The plots and tables follow your guess.</p></section>
<details id="about"><summary>Licences</summary><pre id="licences"></pre></details>
<script type="application/octet-stream" id="module"></script>
${script(start)}
<script type="application/json" id="entries"></script>
${script(js)}
</body>
</html>
`,
);
