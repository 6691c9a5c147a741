// Figures of the steady part across the points of a sweep.
import uPlot from "uplot";
import { number, quantity, unpack } from "./data.js";
import { element } from "./dom.js";
import { lineSample } from "./key.js";
import { CanvasPen, marker } from "./pen.js";
import { beside, decades, ends, extent, suits } from "./range.js";
import { rove, toolbar } from "./roving.js";
import { fileName, paperSvg, saving } from "./save.js";
import { faded, lineColour, look, theme } from "./theme.js";
import { tell } from "./tip.js";

const HEIGHT = 300;
/** Up to so many values are each labelled on the axis. */
const MOST_TICKS = 12;
/** Up to so many points of a plot have their values beside them. */
const MOST_LABELS = 40;

export class SweepSection {
  /** The first panel goes to `lead`, the others to `root`. */
  constructor(root, sweep, id, lead) {
    this.panels = sweep.first.map((i) => new SweepPanel(sweep, i, id));
    const [first, ...others] = this.panels.map((panel) => panel.node);
    if (first) lead.append(first);
    const grid = element("div", { class: "grid" }, ...others);
    if (others.length > 0) root.append(element("h2", {}, "Across the sweep"), grid);
    this.redraw();
    const sizes = new ResizeObserver(() => this.panels.forEach((panel) => panel.fit()));
    [lead, grid].forEach((place) => sizes.observe(place));
  }

  redraw() {
    this.panels.forEach((panel) => panel.draw());
  }

  print() {
    this.panels.forEach((panel) => panel.print());
  }
}

/** A plot of one quantity, which the reader can change. */
class SweepPanel {
  constructor(sweep, chosen, id) {
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
      onblur: () => (this.tip.hidden = true),
    });
    this.tip = element("output", { class: "tip", hidden: true });
    this.legend = element("div", { class: "key", "aria-label": "Key: which lines are shown" });
    this.paper = element("div", { class: "paper", "aria-hidden": "true" });
    const name = () => fileName(id, this.quantity.label, "over", sweep.name);
    const tools = toolbar("View and files", [
      ["log", "Logarithmic axis of values", (on) => ((this.log = on), this.draw()), false],
      ...saving(name, () => this.figure(), () => this.csv()),
    ]);
    this.logButton = tools.querySelector("button");
    this.node = element("article", { class: "panel" }, element("h3", {}, this.select, this.unit), element("div", { class: "frame" }, this.body, this.tip), this.paper, this.legend, tools);
    this.choose(chosen, false);
  }

  choose(index, draw = true) {
    this.quantity = this.sweep.quantities[index];
    this.unit.textContent = this.quantity.unit;
    const others = [...new Set(this.quantity.lines.map((line) => line.of))];
    this.items = this.quantity.lines
      .map((line) => ({ line, v: unpack(line.v), half: unpack(line.h), colourIndex: others.indexOf(line.of), label: line.of ? `${line.of}, ${line.engine}` : line.engine, look: look(line.engine), shown: true }))
      .sort((a, b) => a.colourIndex - b.colourIndex);
    const { possible, wide } = suits(this.items.map((item) => item.v));
    this.log = wide;
    this.logButton.disabled = !possible;
    this.logButton.setAttribute("aria-pressed", String(wide));
    if (draw) this.draw();
  }

  draw() {
    this.plot?.destroy();
    for (const item of this.items) item.colour = lineColour(item.line.engine, item.colourIndex);
    const { sweep, items } = this;
    const n = items.length;
    // Categories stand side by side and are not joined: there is nothing between them.
    this.x = sweep.ticks ? beside(sweep.x.length, n) : sweep.x;
    const place = (v) => (this.log && v <= 0 ? null : v);
    const spread = (values, k) => (sweep.ticks ? this.x.map((_, j) => (j % n === k ? values[Math.floor(j / n)] : null)) : values);
    for (const [k, item] of items.entries()) {
      item.at = spread(item.v.map(place), k);
      item.halfAt = spread(item.half, k);
      item.empty = item.at.every((v) => v == null);
    }
    this.plot = new uPlot(this.options(theme()), [this.x, ...items.map((item) => item.at)], this.body);
    this.legend.replaceChildren(...items.map((item) => this.button(item)));
    rove(this.legend);
  }

  button(item) {
    const button = element(
      "button",
      {
        type: "button",
        title: "Show or hide this line",
        "aria-pressed": String(item.shown),
        onclick: () => {
          item.shown = !item.shown;
          button.setAttribute("aria-pressed", String(item.shown));
          this.plot.setSeries(this.items.indexOf(item) + 1, { show: item.shown && !item.empty });
        },
      },
      lineSample({ ...item.look, points: true }, item.colour),
      item.label,
    );
    return button;
  }

  /** The ends of the axes, and their ticks. */
  axes() {
    const { sweep } = this;
    const xs = sweep.x;
    const [first, last] = [xs[0], xs[xs.length - 1]];
    const { wide } = sweep.ticks ? {} : suits([xs]);
    const margin = sweep.ticks ? 0.5 : (last - first) * 0.06 || 0.5;
    const x = wide ? { min: first * 0.8, max: last * 1.25, log: true } : { min: first - margin, max: last + margin };
    const few = sweep.ticks || xs.length <= MOST_TICKS;
    if (wide) x.at = decades(x.min, x.max);
    else if (few) x.at = xs;
    const shown = this.items.filter((item) => item.shown && !item.empty);
    const need = extent(shown.map((item) => item.at), shown.map((item) => item.halfAt), this.log);
    const [min, max] = need ? ends(need.low, need.high * (this.log ? 1 : 1.04), { zero: true, log: this.log, positive: need.positive }) : [this.log ? 1 : 0, 10];
    return { x, y: { min, max, log: this.log } };
  }

  name(x) {
    return this.sweep.ticks ? (this.sweep.ticks[x] ?? "") : String(x);
  }

  options(colours) {
    const { sweep } = this;
    const axis = {
      stroke: colours.text,
      grid: { stroke: colours.grid, width: 1 },
      ticks: { stroke: colours.grid, width: 1, size: 5 },
      font: "12px system-ui, sans-serif",
    };
    const { x } = this.axes();
    const plain = { filter: (_, at) => at };
    const ticks = x.at ? { splits: () => x.at, ...plain } : {};
    const levels = this.log ? { splits: (u, i, min, max) => decades(min, max), values: (_, at) => at.map((v) => number(v)), ...plain } : {};
    const log = { distr: 3, log: 10 };
    return {
      width: this.body.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      series: [
        {},
        ...this.items.map((item) => ({
          stroke: faded(item.colour, item.look.opacity),
          width: Math.max(item.look.width, 1.6),
          dash: item.look.dash,
          // The range of a logarithmic axis cannot do with a line of nothing.
          show: item.shown && !item.empty,
          spanGaps: false,
          ...(sweep.ticks ? { paths: () => null } : {}),
          points: { show: false },
        })),
      ],
      scales: {
        x: { time: false, range: [x.min, x.max], ...(x.log ? log : {}) },
        y: { ...(this.log ? log : {}), range: () => { const { y } = this.axes(); return [y.min, y.max]; } },
      },
      axes: [
        { ...axis, ...ticks, size: 34, labelSize: 18, label: sweep.unit ? `${sweep.name} (${sweep.unit})` : sweep.name, labelFont: "12px system-ui, sans-serif", values: (_, at) => at.map((v) => (v == null ? "" : this.name(v))) },
        { ...axis, ...levels, size: 52 },
      ],
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 9 } },
      hooks: { draw: [(u) => this.points(u)], setCursor: [(u) => this.readAt(u)] },
    };
  }

  /** Points with their intervals, and their values where there is room. */
  points(u) {
    const ratio = devicePixelRatio;
    const colours = theme();
    u.ctx.save();
    const pen = new CanvasPen(u.ctx, ratio);
    const at = (v, axis) => u.valToPos(v, axis, true) / ratio;
    const [left, top, width, height] = [u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height].map((v) => v / ratio);
    const shown = this.items.filter((item, i) => u.series[i + 1].show);
    const dots = shown.flatMap((item) => item.at.map((v, j) => ({ item, v, half: item.halfAt[j], x: at(u.data[0][j], "x"), y: v == null ? null : at(v, "y") }))).filter((dot) => dot.v != null);
    pen.clipped(left, top, width, height, () => {
      for (const { item, v, half, x } of dots) {
        if (half == null) continue;
        const low = this.log && v - half <= 0 ? top + height : at(v - half, "y");
        const high = at(v + half, "y");
        pen.path([[x, low], [x, high]], { stroke: item.colour, width: 1.5 });
        for (const end of [low, high]) pen.path([[x - 4, end], [x + 4, end]], { stroke: item.colour, width: 1.5 });
      }
    });
    for (const { item, x, y } of dots) marker(pen, item.look.point, x, y, item.colour, colours.back, 3.5);
    if (dots.length <= MOST_LABELS) {
      const taken = dots.map(({ x, y }) => [x - 4, y - 4, x + 4, y + 4]);
      for (const { item, v, x, y } of dots) {
        const text = number(v);
        const wide = pen.measure(text, 10.5);
        // Next to a point is its line, where points are joined.
        const beside = this.sweep.ticks ? [[x + 7, y + 4], [x - wide - 7, y + 4]] : [];
        const tries = [[x - wide / 2, y - 8], ...beside, [x - wide / 2, y + 17]];
        const box = ([tx, ty]) => [tx - 1, ty - 10, tx + wide + 1, ty + 2];
        const free = tries.find((place) => {
          const b = box(place);
          return b[0] >= left && b[2] <= left + width && b[1] >= top - 8 && b[3] <= top + height && !taken.some((t) => b[0] < t[2] && b[2] > t[0] && b[1] < t[3] && b[3] > t[1]);
        });
        if (!free) continue;
        taken.push(box(free));
        pen.text(...free, text, { fill: item.colour, size: 10.5 });
      }
    }
    u.ctx.restore();
  }

  /** The index on the axis of a place in the plot. */
  index(j) {
    return this.sweep.ticks ? Math.floor(j / this.items.length) : j;
  }

  readAt(u) {
    const j = u.cursor.idx;
    if (j == null || u.cursor.left < 0) return tell(this.tip, false);
    const i = this.index(j);
    const { name, unit, x } = this.sweep;
    const text = ({ v, half }) => quantity(v[i], this.quantity.unit) + (half[i] == null ? "" : ` ± ${number(half[i])}`);
    const rows = this.items.filter((item) => item.shown && item.v[i] != null).map((item) => ({ ...item, look: { ...item.look, points: true }, text: text(item) }));
    tell(this.tip, `${name} = ${this.name(x[i])} ${unit}`, rows, u.cursor.left / u.over.clientWidth);
  }

  fit() {
    if (this.plot.width !== this.body.clientWidth) this.plot.setSize({ width: this.body.clientWidth, height: HEIGHT });
  }

  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const u = this.plot;
    const last = this.sweep.x.length - 1;
    const at = u.cursor.idx == null ? null : this.index(u.cursor.idx);
    const i = at == null ? (step > 0 ? 0 : last) : Math.min(Math.max(0, at + step), last);
    this.tip.setAttribute("aria-live", "polite");
    u.setCursor({ left: u.valToPos(this.sweep.x[i], "x"), top: u.over.clientHeight / 2 });
    event.preventDefault();
  }

  figure() {
    const { sweep, quantity: { label, unit } } = this;
    const colours = theme();
    const { x, y } = this.axes();
    const shown = this.items.filter((item) => item.shown && !item.empty);
    const colour = (item) => lineColour(item.line.engine, item.colourIndex);
    const line = (item) => ({ x: this.x, y: item.at, half: item.halfAt, colour: colour(item), look: item.look, points: true, join: !sweep.ticks });
    return {
      name: `${label} (${unit}) over ${sweep.name}`,
      title: `${label} (${unit})`,
      back: colours.back,
      colours,
      x: { ...x, label: sweep.unit ? `${sweep.name} (${sweep.unit})` : sweep.name, ticks: x.at?.map((v) => [v, this.name(v)]) },
      y,
      lines: shown.map(line),
      key: shown.map((item) => ({ label: item.label, colour: colour(item), look: item.look, points: true })),
    };
  }

  csv() {
    const { sweep, items, quantity: { label, unit } } = this;
    const names = items.flatMap((item) => [`${label}, ${item.label} (${unit})`, `± ${item.label} (${unit})`]);
    const name = sweep.unit ? `${sweep.name} (${sweep.unit})` : sweep.name;
    return { header: [name, ...names], rows: sweep.x.map((v, i) => [sweep.ticks ? sweep.ticks[i] : v, ...items.flatMap((item) => [item.v[i], item.half[i]])]) };
  }

  print() {
    this.paper.innerHTML = paperSvg(() => ({ ...this.figure(), title: null }));
  }
}
