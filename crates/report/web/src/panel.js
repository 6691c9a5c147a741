// One plot over time.
import uPlot from "uplot";
import { quantity, sameAxis } from "./data.js";
import { element } from "./dom.js";
import { legend } from "./legend.js";
import { shade } from "./shade.js";
import { engines, estimateDash, faded, lineColour, theme } from "./theme.js";

const HEIGHT = 250;
/** Lines that show before the reader asks for more. */
const FIRST_SUBJECTS = 8;

/** A panel of `point`; `section` synchronises it with the others. */
export class Panel {
  constructor(point, panel, section) {
    Object.assign(this, { point, panel, section });
    const id = `panel-${section.next++}`;
    this.body = element("div", {
      class: "plot",
      tabindex: "0",
      role: "group",
      "aria-label": `${panel.title}, ${panel.unit}, over time. Arrow keys move the reading, plus and minus zoom, shift with arrows moves along, 0 shows all.`,
      onkeydown: (event) => section.key(event, this),
    });
    this.focus = element("span", { class: "focus", "aria-hidden": "true" });
    this.legend = element("div");
    this.node = element(
      "article",
      { class: "panel", "aria-labelledby": id },
      element("h3", { id, title: panel.about }, panel.title, element("span", { class: "unit" }, panel.unit), this.focus),
      this.body,
      this.legend,
    );
    this.items = this.makeItems();
  }

  /** The legend's items; the colour says which group or link, the dash which engine. */
  makeItems() {
    const { panel, point } = this;
    const believers = new Set(panel.lines.filter((line) => line.kind === "estimate").map((line) => line.engine));
    return panel.lines
      .filter((line) => line.kind === "main" || line.kind === "estimate")
      .sort((a, b) => a.of - b.of || a.engine - b.engine)
      .map((line) => {
        const engine = point.engines[line.engine];
        const look = engines[engine] ?? engines.packet;
        const estimate = line.kind === "estimate";
        return {
          line,
          subject: panel.subjects[line.of],
          label: !estimate ? engine : believers.size > 1 ? `${engine}'s estimate` : "estimate",
          dash: estimate ? estimateDash : look.dash,
          width: look.width,
          shown: line.of < FIRST_SUBJECTS,
        };
      });
  }

  /** Draws anew: at first, for other colours, for another width. */
  draw() {
    const { point } = this;
    const keep = this.plot && { min: this.plot.scales.x.min, max: this.plot.scales.x.max };
    this.plot?.destroy();
    const colours = theme();
    for (const item of this.items) item.colour = lineColour(point.engines[item.line.engine], item.line.of);
    const { series, data, bands } = this.series();
    this.plot = new uPlot(this.options(colours, series, bands), data, this.body);
    if (keep) this.plot.setScale("x", keep);
    const { node, read } = legend(this.items, this.panel.unit, () => this.applyVisibility());
    this.legend.replaceWith(node);
    this.legend = node;
    this.read = read;
  }

  /** Lines in the order of drawing: bands and flows below, then means, theory on top. */
  series() {
    const order = { low: 0, high: 1, flow: 2, main: 3, estimate: 3 };
    // The plot copies what it is given, so lines are known by their place.
    this.lines = [...this.panel.lines].sort((a, b) => order[a.kind] - order[b.kind] || b.engine - a.engine);
    const bands = [];
    const series = this.lines.map((line, i) => {
      const engine = this.point.engines[line.engine];
      const look = engines[engine] ?? engines.packet;
      const colour = lineColour(engine, line.of);
      const one = {
        stroke: colour,
        width: look.width,
        dash: look.dash,
        points: { show: false },
        spanGaps: false,
        show: this.visible(line),
        paths: engine === "theory" ? uPlot.paths.stepped({ align: -1 }) : undefined,
      };
      if (line.kind === "estimate") Object.assign(one, { dash: estimateDash, width: 2 });
      if (line.kind === "flow") Object.assign(one, { width: 1, stroke: faded(colour, 0.45) });
      if (line.kind === "low" || line.kind === "high") Object.assign(one, { width: 0, stroke: "transparent" });
      if (line.kind === "high") {
        const low = this.lines.findIndex((l) => l.kind === "low" && l.of === line.of && l.engine === line.engine);
        bands.push({ series: [i + 1, low + 1], fill: faded(colour, 0.18) });
      }
      return one;
    });
    return { series: [{}, ...series], bands, data: this.table(this.lines) };
  }

  /** All lines over one time axis. Engines mostly share theirs. */
  table(lines) {
    const { axes } = this.point;
    if (axes.every((axis) => sameAxis(axis, axes[0]))) return [axes[0], ...lines.map((line) => line.v)];
    const tables = lines.map((line) => [axes[line.engine], line.v]);
    return uPlot.join(tables);
  }

  options(colours, series, bands) {
    const axis = {
      stroke: colours.text,
      grid: { stroke: colours.grid, width: 1 },
      ticks: { stroke: colours.grid, width: 1, size: 5 },
      font: "12px system-ui, sans-serif",
    };
    return {
      width: this.body.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      series,
      bands,
      plugins: [shade(() => this.section.marks(this.point))],
      scales: {
        x: { time: false, range: (_, min, max) => [min, max] },
        y: { range: (_, min, max) => this.range(min, max) },
      },
      axes: [
        { ...axis, size: 34, values: (_, ticks) => ticks.map((t) => `${t}\u2009s`), space: 60 },
        { ...axis, size: 52, space: 34 },
      ],
      cursor: {
        y: false,
        sync: { key: "time", setSeries: false, scales: ["x", null], filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
        drag: { x: true, y: false },
        focus: { prox: 12 },
        points: { size: 6 },
        bind: { dblclick: () => () => (this.section.zoomAll(), null) },
      },
      focus: { alpha: 1 },
      hooks: {
        setScale: [(u, key) => key === "x" && this.section.zoomed(this, u.scales.x)],
        setCursor: [(u) => this.readAt(u)],
        setSeries: [(u, i) => this.showFocus(u, i)],
      },
    };
  }

  range(min, max) {
    if (min == null) return [0, 1];
    if (this.panel.zero) return [Math.min(0, min), max > 0 ? max * 1.06 : 1];
    const pad = (max - min) * 0.08 || Math.abs(max) * 0.1 || 1;
    return [Math.max(0, min - pad), max + pad];
  }

  readAt(u) {
    const i = u.cursor.idx;
    const at = (item) => {
      const s = this.lines.indexOf(item.line) + 1;
      return i == null || !item.shown ? undefined : u.data[s][i] ?? null;
    };
    this.read?.(at);
    this.section.time(i == null ? null : u.data[0][i]);
  }

  /** Names the single flow under the pointer. */
  showFocus(u, i) {
    const line = i == null ? undefined : this.lines[i - 1];
    const value = line?.kind === "flow" && u.cursor.idx != null ? u.data[i][u.cursor.idx] : null;
    this.focus.textContent = value == null ? "" : `${line.flow}: ${quantity(value, this.panel.unit)}`;
  }

  visible(line) {
    const main = this.items.find((item) => item.line.of === line.of && item.line.engine === line.engine && item.line.kind === "main");
    switch (line.kind) {
      case "flow":
        return main.shown && this.section.flows;
      case "low":
      case "high":
        return main.shown && !this.section.flows;
      default:
        return this.items.find((item) => item.line === line).shown;
    }
  }

  applyVisibility() {
    this.plot.batch(() => {
      this.plot.series.forEach((s, i) => {
        if (i > 0 && s.show !== this.visible(this.lines[i - 1])) this.plot.setSeries(i, { show: !s.show });
      });
    });
    this.plot.redraw();
  }
}
