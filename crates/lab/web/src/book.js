// Scenarios in the pages of the book run: a block of code with the word "live" gets sliders, and plots once one of them
// moves. The engines are in module.js next to this script, which all pages share and load when a slider first moves.
import { readPoints } from "../../../report/web/src/data.js";
import { element } from "../../../report/web/src/dom.js";
import { TimeSection } from "../../../report/web/src/time.js";
import { begin } from "./engines.js";
import { Previews } from "./previews.js";
import { Sliders } from "./sliders.js";

const MODULE = new URL("module.js", document.currentScript.src);
const MISSING = "This copy of the book has no engines. In the sources, tools/web/build puts them into it.";
/** The plots below a block: of the page of a run the first one of flows, and the first one of links. */
const KINDS = ["group", "link"];
/** The delay after the last move of a slider until the exact fluid and packets run, in milliseconds. */
const REST = 300;

let engines;

/** Loads the engines once for all blocks. A script is loaded from a disk as well, which fetch refuses. */
const load = () =>
  (engines ??= new Promise((resolve, reject) => {
    const script = element("script", { src: MODULE.href });
    script.onload = () => resolve(begin(globalThis.accordModule).runs);
    script.onerror = () => reject(new Error(MISSING));
    document.head.append(script);
  }));

class Live {
  constructor(code) {
    this.code = code;
    this.text = code.textContent;
    const sliders = element("div", { class: "sliders", role: "group", "aria-label": "Numbers of the scenario" });
    this.status = element("p", { class: "status", role: "status" }, "Move a slider: the scenario runs here.");
    this.plots = element("div");
    this.node = element("div", { class: "accord-live" }, sliders, this.status, this.plots);
    code.closest("pre").after(this.node);
    this.sliders = new Sliders(sliders, (number, value) => this.moved(number, value));
    this.sliders.show(this.text);
    // Theory and a coarse fluid while a slider moves.
    this.previews = new Previews(() => this.run(true));
  }

  moved({ from, to }, value) {
    this.text = this.text.slice(0, from) + value + this.text.slice(to);
    this.code.textContent = this.text;
    globalThis.hljs?.highlightElement?.(this.code);
    this.sliders.show(this.text);
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.run(false), REST);
    this.previews.ask();
  }

  async run(preview) {
    if (!preview) this.previews.drop();
    this.running?.abort();
    const { signal } = (this.running = new AbortController());
    const failures = [];
    try {
      if (!engines) this.status.textContent = "Loading the engines …";
      const runs = await load();
      const request = { ask: "run", text: this.text, engines: ["theory", "fluid", "packet"], preview };
      const { seconds } = await runs.ask(request, signal, (event) => {
        if (signal.aborted) return;
        if (event.event === "failed") failures.push(event.message);
        if (event.event === "progress") this.status.textContent = `${event.engine} ${Math.round(event.part * 100)} %`;
        if (event.event === "view") this.show(JSON.parse(event.plots), preview);
      });
      this.status.textContent = preview ? "Packets follow when the slider rests." : [`${seconds.toFixed(2)} s`, ...failures].join(". ");
    } catch (error) {
      if (error.name !== "AbortError") this.status.textContent = error.message;
    }
  }

  show(data, preview) {
    const points = readPoints(data.points).map((point) => ({ ...point, panels: KINDS.flatMap((kind) => point.panels.find((panel) => panel.kind === kind) ?? []) }));
    // A preview has no packets, so it leaves the plots of a scenario of which only packets have values.
    if (preview && points[0].panels.length === 0) return;
    const place = element("div");
    this.plots.replaceChildren(place);
    this.time?.panels.forEach((panel) => panel.plot.destroy());
    this.time = new TimeSection(place, points, data.id);
    this.time.spreads.hidden = true;
  }
}

document.head.prepend(element("style", {}, STYLE));
const words = (code) => code.className.split(/[ ,]/);
for (const code of document.querySelectorAll("pre > code")) if (words(code).includes("live")) new Live(code);
