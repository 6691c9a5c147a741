// Figures of the steady part across the points of a sweep.
import uPlot from "uplot";
import { unpack } from "./data.js";
import { element } from "./dom.js";
import { legend } from "./legend.js";
import { engines, lineColour, theme } from "./theme.js";

const HEIGHT = 300;
/** Up to so many values are each labelled on the axis. */
const MOST_TICKS = 12;
/** An axis whose values are all positive and so many times apart is logarithmic at first. */
const WIDE = 300;

/** Whether lines can have a logarithmic axis, and whether they should. */
function suits(lines) {
  const known = lines.map((line) => line.filter((v) => v != null));
  // What is zero throughout has no place on it, and is not missed.
  const values = known.filter((line) => line.some((v) => v !== 0)).flat();
  const [min, max] = [Math.min(...values), Math.max(...values)];
  return { possible: min >= 0 && max > 0, wide: min > 0 && max >= WIDE * min };
}

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

/** Where a logarithmic axis has its lines: powers of ten, and 2 and 5 times them if few fit. */
function decades(u, axis, min, max) {
  const powers = [];
  // Written out: the power of a negative exponent is not always the nearest number.
  for (let e = Math.floor(Math.log10(min)); e <= Math.log10(max); e++) powers.push(Number(`1e${e}`));
  const steps = powers.length > 4 ? [1] : [1, 2, 5];
  return powers.flatMap((p) => steps.map((step) => step * p)).filter((v) => v >= min && v <= max);
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
    this.log = element("input", { type: "checkbox", onchange: () => this.draw() });
    this.scale = element("label", { class: "unit" }, this.log, "log");
    this.body = element("div", {
      class: "plot",
      tabindex: "0",
      role: "group",
      "aria-label": `A quantity against ${sweep.name}. Arrow keys move the reading.`,
      onkeydown: (event) => this.key(event),
    });
    this.legend = element("div");
    this.at = element("span", { class: "focus" });
    this.node = element("article", { class: "panel" }, element("h3", {}, this.select, this.unit, this.scale, this.at), this.body, this.legend);
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
    const { possible, wide } = suits(this.quantity.lines.map((line) => unpack(line.v)));
    this.log.checked = wide;
    this.log.disabled = !possible;
    if (draw) this.draw();
  }

  draw() {
    this.plot?.destroy();
    const colours = theme();
    for (const item of this.items) item.colour = lineColour(item.line.engine, item.colourIndex);
    this.half = this.items.map((item) => unpack(item.line.h));
    const place = (v) => (this.log.checked && v === 0 ? null : v);
    for (const item of this.items) item.empty = unpack(item.line.v).every((v) => place(v) == null);
    const data = [this.sweep.x, ...this.items.map((item) => unpack(item.line.v).map(place))];
    this.plot = new uPlot(this.options(colours), data, this.body);
    const { node, read } = legend(this.items, this.quantity.unit, (item, show) => {
      this.plot.setSeries(this.items.indexOf(item) + 1, { show: show && !item.empty });
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
    const { wide } = sweep.ticks ? {} : suits([sweep.x]);
    const margin = (last - first) * 0.04 || 0.5;
    const ends = wide ? [first * 0.8, last * 1.25] : [first - margin, last + margin];
    const few = sweep.ticks || sweep.x.length <= MOST_TICKS;
    const plain = { filter: (_, at) => at };
    const ticks = wide ? { splits: decades, ...plain } : few ? { splits: () => sweep.x } : {};
    const levels = this.log.checked ? { splits: decades, values: (_, at) => at.map(String), ...plain } : {};
    const log = { distr: 3, log: 10 };
    const linear = (_, min, max) => (min == null ? [0, 1] : [Math.min(0, min * 1.06), max > 0 ? max * 1.06 : 1]);
    const ample = (_, min, max) => (min == null ? [1, 10] : [min * 0.8, max * 1.25]);
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
          // The range of a logarithmic axis cannot do with a line of nothing.
          show: item.shown && !item.empty,
          spanGaps: false,
          points: { show: true, size: 7, fill: item.dash.length ? colours.back : item.colour },
        })),
      ],
      scales: {
        x: { time: false, range: ends, ...(wide ? log : {}) },
        y: this.log.checked ? { ...log, range: ample } : { range: linear },
      },
      axes: [
        { ...axis, ...ticks, size: 34, labelSize: 18, label: sweep.unit ? `${sweep.name} (${sweep.unit})` : sweep.name, labelFont: "12px system-ui, sans-serif", values: (_, at) => at.map((x) => (x == null ? "" : label(x))) },
        { ...axis, ...levels, size: 52 },
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
        // On a logarithmic axis an interval that reaches zero goes down to the edge.
        ctx.moveTo(x, u.valToPos(Math.max(mean - half, this.log.checked ? u.scales.y.min : -Infinity), "y", true));
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
