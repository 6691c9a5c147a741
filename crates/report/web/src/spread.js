// Distributions over the steady part: a tab per quantity, its distribution function and boxes.
import { number, unpack } from "./data.js";
import { element } from "./dom.js";
import { draw, heightOf } from "./figure.js";
import { SvgPen } from "./pen.js";
import { ends, suits } from "./range.js";
import { rove, toolbar } from "./roving.js";
import { fileName, paperSvg, saving } from "./save.js";
import { lineColour, look, theme } from "./theme.js";

const HEIGHT = 270;

export class SpreadSection {
  constructor(root, point, section) {
    Object.assign(this, { point, section });
    this.spreads = (point.spreads ?? []).map((spread) => {
      const lines = spread.lines.map((line) => ({ ...line, q: unpack(line.q) }));
      const { wide } = suits(lines.map((line) => line.q.slice(1, 100)));
      return { ...spread, lines, log: wide };
    });
    root.replaceChildren();
    if (this.spreads.length === 0) return;
    this.tabs = this.spreads.map((spread, i) =>
      element("button", { type: "button", role: "tab", id: `spread-${i}`, "aria-controls": "spread", "aria-selected": String(i === 0), onclick: () => this.choose(i) }, spread.title),
    );
    const list = element("div", { class: "tabs", "aria-label": "Quantity" }, ...this.tabs);
    rove(list, "tablist");
    this.figures = [this.part("Distribution", () => this.cumulative()), this.part("Boxes", () => this.boxes())];
    this.panel = element("div", { class: "grid", id: "spread", role: "tabpanel" }, ...this.figures.map((figure) => figure.node));
    this.about = element("p", { class: "hint" });
    root.append(element("h2", {}, "Distributions"), list, this.panel, this.about);
    this.choose(0, false);
  }

  part(name, figure) {
    const file = () => fileName(this.section.id, this.point.label, this.spread.title, name);
    const plot = element("div", { class: "still" });
    const paper = element("div", { class: "paper", "aria-hidden": "true" });
    const log = ["log", "Logarithmic axis", (on) => ((this.spread.log = on), this.choose(this.at)), false];
    const tools = toolbar(`${name}: view and files`, [log, ...saving(file, figure, () => this.csv())]);
    const title = element("h3", {});
    return { name, title, plot, paper, figure, tools, node: element("article", { class: "panel" }, title, plot, paper, tools) };
  }

  choose(i, drawn = true) {
    this.at = i;
    this.spread = this.spreads[i];
    this.tabs.forEach((tab, k) => tab.setAttribute("aria-selected", String(k === i)));
    this.panel.setAttribute("aria-labelledby", `spread-${i}`);
    this.about.textContent = `Of ${this.spread.about}. Box: quartiles and median; whiskers: 5 % and 95 %; dots: 1 % and 99 %; diamond: mean. The extremes are in the table of figures of each plot.`;
    for (const { tools } of this.figures) tools.querySelector("button").setAttribute("aria-pressed", String(this.spread.log));
    if (drawn) this.draw();
  }

  draw() {
    if (this.spreads.length === 0) return;
    for (const { name, title, plot, figure } of this.figures) {
      title.replaceChildren(`${name} of ${this.spread.title.toLowerCase()}`, element("span", { class: "unit" }, this.spread.unit));
      const width = plot.clientWidth || 320;
      const made = { ...figure(), title: null };
      const pen = new SvgPen();
      const height = heightOf(made, HEIGHT);
      draw(pen, made, width, height);
      // The pen escapes all text.
      plot.innerHTML = pen.svg(width, height, made.name);
    }
  }

  shown() {
    const { keys } = this.section;
    return this.spread.lines.filter((line) => keys.shows(null, line.of, line.engine));
  }

  base(name, lines) {
    const colours = theme();
    const { unit, log, title } = this.spread;
    const low = Math.min(...lines.map((line) => line.q[1]));
    const high = Math.max(...lines.map((line) => line.q[99]));
    const positive = Math.min(...lines.flatMap((line) => line.q.filter((v) => v > 0)));
    const [min, max] = lines.length ? ends(low, high, { log, positive: Math.max(positive, low) || positive }) : [0, 1];
    return { name: `${name} of ${title.toLowerCase()}`, title: `${name} of ${title.toLowerCase()}`, back: colours.back, colours, x: { min, max, log, label: `${title.toLowerCase()} (${unit})` } };
  }

  colour(line) {
    return lineColour(line.engine, this.section.keys.index(null, line.of));
  }

  cumulative() {
    const lines = this.shown();
    const share = Array.from({ length: 99 }, (_, i) => i + 1);
    const order = (line) => look(line.engine).order;
    const curves = [...lines].sort((a, b) => order(a) - order(b)).map((line, nth) => {
      const known = line.q.slice(1, 100);
      return { x: [known[0], ...known, known[98]], y: [0, ...share, 100], colour: this.colour(line), look: look(line.engine), nth };
    });
    return {
      ...this.base("Distribution", lines),
      y: { min: 0, max: 100, ticks: [0, 25, 50, 75, 100].map((v) => [v, `${v} %`]) },
      lines: curves,
      key: this.section.keys.items(lines.map((line) => ({ subject: line.of, engine: line.engine }))),
    };
  }

  boxes() {
    const lines = this.shown();
    return {
      ...this.base("Boxes", lines),
      y: { min: 0, max: 1 },
      boxes: lines.map((line) => ({
        label: `${line.of}, ${line.engine}: median ${number(line.q[50])}, 95 % ${number(line.q[95])}, n = ${line.n}`,
        colour: this.colour(line),
        look: look(line.engine),
        q: [5, 25, 50, 75, 95].map((i) => line.q[i]),
        ends: [line.q[1], line.q[99]],
        mean: line.mean,
      })),
    };
  }

  csv() {
    const { lines, unit } = this.spread;
    const name = (line) => `${line.of} ${line.engine} (${unit})`;
    return { header: ["share (%)", ...lines.map(name)], rows: lines[0].q.map((_, i) => [i, ...lines.map((line) => line.q[i])]) };
  }

  print() {
    this.figures?.forEach(({ paper, figure }) => (paper.innerHTML = paperSvg(() => ({ ...figure(), title: null }))));
  }
}
