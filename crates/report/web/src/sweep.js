// Figures of the steady part across the points of a sweep.
import uPlot from "uplot";
import { unpack } from "./data.js";
import { element } from "./dom.js";
import { legend } from "./legend.js";
import { engines, lineColour, theme } from "./theme.js";

const HEIGHT = 300;
/** Up to so many values are each labelled on the axis. */
const MOST_TICKS = 12;

export class SweepSection {
  constructor(root, sweep) {
    this.panels = sweep.first.map((i) => new SweepPanel(sweep, i));
    this.grid = element("div", { class: "grid" }, ...this.panels.map((panel) => panel.node));
    root.append(element("h2", {}, "Across the sweep"), this.grid);
    this.redraw();
    new ResizeObserver(() => this.panels.forEach((panel) => panel.fit())).observe(this.grid);
  }

  redraw() {
    this.panels.forEach((panel) => panel.draw());
  }
}

/** A plot of one quantity, which the reader can change. */
class SweepPanel {
  constructor(sweep, chosen) {
    this.sweep = sweep;
    this.select = element(
      "select",
      { "aria-label": "Quantity", onchange: () => this.choose(Number(this.select.value)) },
      ...sweep.quantities.map((q, i) => element("option", { value: i }, q.label)),
    );
    this.select.value = chosen;
    this.unit = element("span", { class: "unit" });
    this.body = element("div", {
      class: "plot",
      tabindex: "0",
      role: "group",
      "aria-label": `A quantity against ${sweep.name}. Arrow keys move the reading.`,
      onkeydown: (event) => this.key(event),
    });
    this.legend = element("div");
    this.at = element("span", { class: "focus" });
    this.node = element("article", { class: "panel" }, element("h3", {}, this.select, this.unit, this.at), this.body, this.legend);
    this.choose(chosen, false);
  }

  choose(index, draw = true) {
    this.quantity = this.sweep.quantities[index];
    this.unit.textContent = this.quantity.unit;
    const others = [...new Set(this.quantity.lines.map((line) => line.of))];
    this.items = this.quantity.lines
      .map((line) => {
        const look = engines[line.engine] ?? engines.packet;
        return { line, colourIndex: others.indexOf(line.of), subject: line.of, label: line.engine, dash: look.dash, width: 2, marker: true, shown: true };
      })
      .sort((a, b) => a.colourIndex - b.colourIndex);
    if (draw) this.draw();
  }

  draw() {
    this.plot?.destroy();
    const colours = theme();
    for (const item of this.items) item.colour = lineColour(item.line.engine, item.colourIndex);
    this.half = this.items.map((item) => unpack(item.line.h));
    const data = [this.sweep.x, ...this.items.map((item) => unpack(item.line.v))];
    this.plot = new uPlot(this.options(colours), data, this.body);
    const { node, read } = legend(this.items, this.quantity.unit, (item, show) => {
      this.plot.setSeries(this.items.indexOf(item) + 1, { show });
    });
    this.legend.replaceWith(node);
    this.legend = node;
    this.read = read;
  }

  options(colours) {
    const { sweep } = this;
    const axis = {
      stroke: colours.text,
      grid: { stroke: colours.grid, width: 1 },
      ticks: { stroke: colours.grid, width: 1, size: 5 },
      font: "12px system-ui, sans-serif",
    };
    const label = (x) => (sweep.ticks ? sweep.ticks[x] ?? "" : String(x));
    const [first, last] = [sweep.x[0], sweep.x[sweep.x.length - 1]];
    const margin = (last - first) * 0.04 || 0.5;
    const ticks = sweep.ticks || sweep.x.length <= MOST_TICKS ? { splits: () => sweep.x } : {};
    return {
      width: this.body.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      series: [
        {},
        ...this.items.map((item) => ({
          stroke: item.colour,
          width: 2,
          dash: item.dash,
          show: item.shown,
          spanGaps: false,
          points: { show: true, size: 7, fill: item.dash.length ? colours.back : item.colour },
        })),
      ],
      scales: {
        x: { time: false, range: [first - margin, last + margin] },
        y: { range: (_, min, max) => (min == null ? [0, 1] : [Math.min(0, min * 1.06), max > 0 ? max * 1.06 : 1]) },
      },
      axes: [
        { ...axis, ...ticks, size: 34, labelSize: 18, label: sweep.unit ? `${sweep.name} (${sweep.unit})` : sweep.name, labelFont: "12px system-ui, sans-serif", values: (_, at) => at.map(label) },
        { ...axis, size: 52 },
      ],
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 9 } },
      hooks: { draw: [(u) => this.whiskers(u)], setCursor: [(u) => this.readAt(u, label)] },
    };
  }

  /** The confidence intervals. */
  whiskers(u) {
    const { ctx } = u;
    ctx.save();
    ctx.lineWidth = 1.5 * devicePixelRatio;
    this.items.forEach((item, i) => {
      if (!u.series[i + 1].show) return;
      ctx.strokeStyle = item.colour;
      u.data[i + 1].forEach((mean, j) => {
        const half = this.half[i][j];
        if (mean == null || half == null) return;
        const x = u.valToPos(u.data[0][j], "x", true);
        ctx.beginPath();
        ctx.moveTo(x, u.valToPos(mean - half, "y", true));
        ctx.lineTo(x, u.valToPos(mean + half, "y", true));
        ctx.stroke();
      });
    });
    ctx.restore();
  }

  readAt(u, label) {
    const i = u.cursor.idx;
    this.read?.((item) => (i == null ? undefined : u.data[this.items.indexOf(item) + 1][i] ?? null));
    this.at.textContent = i == null ? "" : `${this.sweep.name} = ${label(u.data[0][i])} ${this.sweep.unit}`;
  }

  fit() {
    if (this.plot.width !== this.body.clientWidth) this.plot.setSize({ width: this.body.clientWidth, height: HEIGHT });
  }

  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const u = this.plot;
    const last = this.sweep.x.length - 1;
    const i = u.cursor.idx == null ? (step > 0 ? 0 : last) : Math.min(Math.max(0, u.cursor.idx + step), last);
    u.setCursor({ left: u.valToPos(this.sweep.x[i], "x"), top: u.over.clientHeight / 2 });
    event.preventDefault();
  }
}
