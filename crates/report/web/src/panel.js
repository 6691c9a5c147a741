// One plot over time.
import uPlot from "uplot";
import { number, quantity, sameAxis } from "./data.js";
import { element } from "./dom.js";
import { SPACING } from "./figure.js";
import { CanvasPen, marker } from "./pen.js";
import { alone, decades, ends, marked, quantile, robust, room, zoomed } from "./range.js";
import { rove, toolbar } from "./roving.js";
import { fileName, paperSvg, saving } from "./save.js";
import { shade } from "./shade.js";
import { estimateLook, faded, lineColour, look, theme } from "./theme.js";
import { tell } from "./tip.js";

const HEIGHT = 250;
/** That of the plot that a page begins with. */
const LEAD = 300;
const WIDTH = 52;
const HEADINGS = ["least", "mean", "median", "p95", "p99", "largest"];

/** The kinds of the upper edges of bands, with those of the lower ones. */
const BANDS = { high: "low", p95: "p5", p75: "p25" };
const isEdge = (line) => Object.entries(BANDS).flat().includes(line.kind);

/** The width of the axis of values, which the plot asks for again until it does not change. */
function wide(u, labels, i, cycle) {
  const { ticks, gap, font, _size } = u.axes[i];
  if (cycle > 1) return _size;
  u.ctx.font = font[0];
  return room(labels ?? [], (label) => u.ctx.measureText(label).width / devicePixelRatio, ticks.size + gap, WIDTH);
}

/** A panel of `point`; `section` synchronises it with the others. */
export class Panel {
  constructor(point, panel, section, lead = false) {
    Object.assign(this, { point, panel, section });
    this.height = lead ? LEAD : HEIGHT;
    Object.assign(this, { all: false, log: false, range: null });
    const id = `panel-${section.next++}`;
    this.tip = element("output", { class: "tip", hidden: true });
    this.body = element("div", {
      class: "plot",
      tabindex: "0",
      role: "group",
      "aria-label": `${panel.title}, ${panel.unit}, over time. Arrow keys move the reading, plus and minus zoom, shift with arrows left and right moves along, shift with arrows up and down zooms the values, 0 shows all. Page up and page down go to the plots before and after.`,
      onkeydown: (event) => section.key(event, this),
      onmouseenter: () => section.reads(this, false),
      onmouseleave: () => section.reads(null),
      onfocus: () => section.reads(this, true),
      onblur: () => section.reads(null),
    });
    this.focus = element("span", { class: "focus", "aria-hidden": "true" });
    this.remark = element("p", { class: "remark" });
    this.figures = element("div", { class: "scroll figures", hidden: true });
    this.paper = element("div", { class: "paper", "aria-hidden": "true" });
    const name = () => fileName(section.id, point.label, panel.title);
    const redraw = () => this.draw();
    this.tools = toolbar(`${panel.title}: view and files`, [
      ["all values", "Show all values, also what lies far from the others", (on) => this.setRange({ all: on }), false],
      ["log", "Logarithmic axis of values", (on) => (this.setRange({ log: on }, false), redraw()), false],
      ["y +", "Zoom in on the values", () => this.zoomValues(0.5)],
      ["y −", "Zoom out of the values", () => this.zoomValues(2)],
      ["figures", "Table of the figures of the steady part", (on) => this.showFigures(on), false],
      ...saving(name, () => this.figure(), () => this.csv()),
    ]);
    this.node = element(
      "article",
      { class: "panel", "aria-labelledby": id },
      element("h3", { id, title: panel.about }, panel.title, element("span", { class: "unit" }, panel.unit), this.focus),
      element("div", { class: "frame" }, this.body, this.tip),
      this.paper,
      this.remark,
      this.tools,
      this.figures,
    );
    this.node.addEventListener("focusin", () => section.reach(this));
    this.items = this.makeItems();
  }

  /** Whether the tab key comes here: to the plot and its buttons. Page up and down go from plot to plot. */
  reachable(yes) {
    this.body.tabIndex = yes ? 0 : -1;
    if (yes) rove(this.tools);
    else for (const button of this.tools.children) button.tabIndex = -1;
  }

  /** The lines that have a reading: means and estimates. */
  makeItems() {
    const { panel, point } = this;
    return panel.lines
      .filter((line) => line.kind === "main" || line.kind === "estimate")
      .sort((a, b) => a.of - b.of || a.engine - b.engine)
      .map((line) => {
        const engine = point.engines[line.engine];
        const estimate = line.kind === "estimate";
        const subject = panel.subjects[line.of];
        return { line, engine, subject, estimate, label: `${subject}, ${engine}${estimate ? "'s estimate" : ""}` };
      });
  }

  colour(line) {
    return lineColour(this.point.engines[line.engine], this.section.keys.index(this.panel.kind, this.panel.subjects[line.of]));
  }

  lookOf(line) {
    return line.kind === "estimate" ? estimateLook : look(this.point.engines[line.engine]);
  }

  /** Draws anew: at first, for other colours, for another axis. */
  draw(width = this.body.clientWidth) {
    // The plot takes a range at the end of a task only, and this may be its second drawing in one.
    const keep = this.plot && this.section.range;
    this.plot?.destroy();
    const { series, data, bands } = this.series();
    this.plot = new uPlot(this.options(theme(), series, bands, width), data, this.body);
    if (keep) this.plot.setScale("x", { min: keep[0], max: keep[1] });
  }

  /** Draws other values of the same lines. */
  update(point, panel) {
    Object.assign(this, { point, panel });
    this.items = this.makeItems();
    const { data } = this.series();
    this.plot.batch(() => {
      this.plot.setData(data, false);
      this.refit();
    });
  }

  /** Lines in the order of drawing: bands and flows below, then means, theory on top. */
  series() {
    const order = (line) => (line.kind === "flow" ? -1 : isEdge(line) ? -2 : this.lookOf(line).order);
    // The plot copies its data, so lines are identified by their place.
    this.lines = [...this.panel.lines].sort((a, b) => order(a) - order(b));
    const bands = [];
    const series = this.lines.map((line, i) => {
      const engine = this.point.engines[line.engine];
      const { dash, width, opacity } = this.lookOf(line);
      const colour = this.colour(line);
      const one = {
        stroke: faded(colour, opacity),
        width,
        dash,
        points: { show: true, size: 5, width: 0, fill: faded(colour, opacity), filter: (u, k) => alone(u.data[k]) },
        spanGaps: false,
        show: this.visible(line),
        paths: engine === "theory" ? uPlot.paths.stepped({ align: -1 }) : undefined,
      };
      if (line.kind === "flow") Object.assign(one, { width: 1, dash: [], stroke: faded(colour, 0.45) });
      if (isEdge(line)) Object.assign(one, { width: 0, stroke: "transparent", points: { show: false } });
      if (BANDS[line.kind]) {
        const low = this.lines.indexOf(this.beside(line, BANDS[line.kind]));
        bands.push({ series: [i + 1, low + 1], fill: faded(colour, 0.18) });
      }
      return one;
    });
    const data = this.table(this.lines);
    const positive = (values) => values.map((v) => (v > 0 ? v : null));
    return { series: [{}, ...series], bands, data: this.log ? [data[0], ...data.slice(1).map(positive)] : data };
  }

  /** The line of another kind that belongs to a line. */
  beside(line, kind) {
    return this.lines.find((l) => l.kind === kind && l.of === line.of && l.engine === line.engine);
  }

  /** All lines over one time axis. Engines mostly share theirs. */
  table(lines) {
    const { axes } = this.point;
    if (axes.every((axis) => sameAxis(axis, axes[0]))) return [axes[0], ...lines.map((line) => line.v)];
    const tables = lines.map((line) => [axes[line.engine], line.v]);
    return uPlot.join(tables);
  }

  options(colours, series, bands, width) {
    const axis = {
      stroke: colours.text,
      grid: { stroke: colours.grid, width: 1 },
      ticks: { stroke: colours.grid, width: 1, size: 5 },
      font: "12px system-ui, sans-serif",
    };
    const { most } = this.panel;
    const sensible = most == null ? {} : { filter: (_, at) => at.map((v) => (v <= most * 1.0001 ? v : null)) };
    const levels = this.log ? { splits: (_, i, min, max) => decades(min, max), values: (_, at) => at.map((v) => (v == null ? "" : number(v))), filter: (_, at) => at } : sensible;
    return {
      width,
      height: this.height,
      legend: { show: false },
      series,
      bands,
      plugins: [shade(() => this.section.marks(this.point))],
      scales: {
        x: { time: false, range: (_, min, max) => [min, max] },
        y: { ...(this.log ? { distr: 3, log: 10 } : {}), range: () => this.values() },
      },
      axes: [
        { ...axis, size: 34, values: (_, ticks) => ticks.map((t) => `${t}\u2009s`), space: 60 },
        { ...axis, ...levels, size: wide, space: 34 },
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
        draw: [(u) => this.markers(u)],
      },
    };
  }

  /** The ends of the axis of values: what the reader chose, or what most of the lines need. */
  values() {
    const { zero, most } = this.panel;
    const [from, to] = this.section.range;
    const kind = (line) => (line.kind === "flow" || isEdge(line) ? "span" : "line");
    const role = (line) => (this.point.engines[line.engine] === "theory" ? "model" : kind(line));
    const lines = this.lines.filter((line) => this.visible(line)).map((line) => ({ x: this.point.axes[line.engine], y: line.v, role: role(line) }));
    const found = robust(lines, from, to, this.point.steady);
    this.say(found);
    if (!found) return this.log ? [0.1, 1] : [0, 1];
    const [low, high] = this.all ? found.all : [found.low, found.high];
    const least = this.all ? Math.min(...lines.flatMap((l) => l.y.filter((v) => v > 0))) : found.positive;
    this.middle = this.median(lines, from, to) ?? (low + high) / 2;
    return this.range ?? ends(low, high, { zero, most, log: this.log, positive: least });
  }

  median(lines, from, to) {
    const means = lines.filter((line) => line.role === "line");
    const values = means.flatMap(({ x, y }) => y.filter((v, i) => v != null && x[i] >= from && x[i] <= to));
    return values.length ? quantile(values.sort((a, b) => a - b), 0.5) : null;
  }

  /** Says what the plot leaves out or smooths. */
  say(found) {
    const { unit, smooth } = this.panel;
    const remarks = [];
    if (smooth) remarks.push(`each value a mean over ${smooth}\u00a0s, which smooths packets and bursts`);
    if (this.range) remarks.push("zoomed values; 0 shows all");
    else if (found && !this.all) {
      if (found.all[1] > found.high) remarks.push(`cut off: up to ${quantity(found.all[1], unit)}`);
      if (found.all[0] < found.low && !this.log && !(this.panel.zero && found.all[0] >= 0)) remarks.push(`cut off: down to ${quantity(found.all[0], unit)}`);
    }
    const text = remarks.join("; ");
    if (this.remark.textContent !== text) this.remark.textContent = text;
  }

  setRange(change, redraw = true) {
    Object.assign(this, change, { range: null });
    if (redraw) this.refit();
  }

  zoomValues(factor) {
    const { min, max } = this.plot.scales.y;
    if (this.log) this.range = zoomed([Math.log10(min), Math.log10(max)], factor, Math.log10(Math.max(this.middle, min))).map((v) => 10 ** v);
    else this.range = zoomed([min, max], factor, this.middle);
    this.refit();
  }

  /** Asks anew for the range of values. */
  refit() {
    const { min, max } = this.plot.scales.x;
    this.section.quietly(() => this.plot.setScale("x", { min, max }));
  }

  /** Markers tell engines apart where lines are thin or there is no colour. */
  markers(u) {
    const { ctx } = u;
    const ratio = devicePixelRatio;
    const { back } = theme();
    ctx.save();
    const pen = new CanvasPen(ctx, ratio);
    const [left, top, width, height] = [u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height].map((v) => v / ratio);
    pen.clipped(left, top, width, height, () => {
      this.lines.forEach((line, i) => {
        const shape = line.kind === "main" && this.lookOf(line).marker;
        if (!shape || !u.series[i + 1].show) return;
        const colour = this.colour(line);
        const xs = Array.from(u.data[0], (t) => left + u.valToPos(t, "x"));
        const within = u.data[i + 1].map((v, k) => (xs[k] >= left && xs[k] <= left + width ? v : null));
        for (const k of marked(xs, within, SPACING, line.of * 17)) marker(pen, shape, xs[k], top + u.valToPos(within[k], "y"), colour, back);
      });
    });
    ctx.restore();
  }

  readAt(u) {
    const i = u.cursor.idx;
    this.section.time(i == null ? null : u.data[0][i]);
    // Asking for a width takes a layout of the page.
    if (this.section.reader !== this || i == null) return tell(this.tip, null);
    const value = (item) => u.data[this.lines.indexOf(item.line) + 1][i];
    const shown = this.items.filter((item) => this.visible(item.line) && value(item) != null);
    const rows = shown.map((item) => ({ ...item, look: this.lookOf(item.line), colour: this.colour(item.line), text: quantity(value(item), this.panel.unit) }));
    tell(this.tip, `t = ${number(u.data[0][i])} s`, rows, u.cursor.left / u.over.clientWidth);
  }

  /** Names the single flow under the pointer. */
  showFocus(u, i) {
    const line = i == null ? undefined : this.lines[i - 1];
    const value = line?.kind === "flow" && u.cursor.idx != null ? u.data[i][u.cursor.idx] : null;
    this.focus.textContent = value == null ? "" : `${line.flow}: ${quantity(value, this.panel.unit)}`;
  }

  visible(line) {
    const { panel, point, section } = this;
    if (!section.keys.shows(panel.kind, panel.subjects[line.of], point.engines[line.engine], line.kind === "estimate")) return false;
    if (line.kind === "flow") return section.flows;
    if (line.kind === "low" || line.kind === "high") return !section.flows;
    return true;
  }

  applyVisibility() {
    this.plot.batch(() => {
      this.plot.series.forEach((s, i) => {
        if (i > 0 && s.show !== this.visible(this.lines[i - 1])) this.plot.setSeries(i, { show: !s.show });
      });
    });
    this.refit();
    this.plot.redraw();
    if (!this.figures.hidden) this.showFigures(true);
  }

  /** Figures of the steady part, before any smoothing. */
  showFigures(on) {
    this.figures.hidden = !on;
    if (!on) return;
    const cell = (v) => element("td", { class: "n" }, number(v));
    const rows = this.items.filter((item) => item.line.f && this.visible(item.line));
    const head = element("tr", {}, element("th", {}, this.panel.unit), ...HEADINGS.map((h) => element("th", { class: "n" }, h)));
    const body = rows.map((item) => element("tr", {}, element("th", { scope: "row" }, item.label), ...item.line.f.map(cell)));
    const caption = rows.length ? "Samples of the steady part, before smoothing; of a group, the mean over its flows, or their median beside bands of percentiles" : "No figures: nothing is measured in the steady part, or the quantity is a count so far";
    this.figures.replaceChildren(element("table", {}, element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, ...body)));
  }

  /** The plot as it is shown, for print and files. */
  figure() {
    const { panel, point } = this;
    const colours = theme();
    const { x, y } = this.plot.scales;
    const shown = this.lines.filter((line) => this.visible(line));
    const { steady, phases, picked } = this.section.marks(point);
    const axis = (line) => point.axes[line.engine];
    const main = shown.filter((line) => line.kind === "main" || line.kind === "estimate");
    const bands = shown
      .filter((line) => BANDS[line.kind])
      .map((line) => {
        const low = this.beside(line, BANDS[line.kind]);
        return { x: axis(line), low: low.v, high: line.v, colour: this.colour(line), opacity: 0.18 };
      });
    const thin = { width: 0.8, dash: [], opacity: 0.45 };
    const items = this.items.filter((item) => main.includes(item.line));
    return {
      name: `${panel.title} (${panel.unit})`,
      title: `${panel.title} (${panel.unit})`,
      back: colours.back,
      colours,
      x: { min: x.min, max: x.max, label: "time (s)" },
      y: { min: y.min, max: y.max, log: this.log, ...(panel.most && !this.log ? { top: panel.most } : {}) },
      under: [
        { from: steady[0], to: steady[1], colour: colours.shade },
        ...(picked ? [{ from: picked[0], to: picked[1], colour: colours.picked }] : []),
        ...phases.map((at) => ({ at, colour: colours.faint })),
      ],
      bands,
      lines: shown
        .filter((line) => !isEdge(line))
        .map((line) => ({ x: axis(line), y: line.v, colour: this.colour(line), look: line.kind === "flow" ? thin : this.lookOf(line), step: point.engines[line.engine] === "theory", nth: line.of })),
      key: this.section.keys.items(items),
    };
  }

  csv() {
    const lines = this.panel.lines;
    const kinds = { estimate: " estimate", low: " smallest", high: " largest", p5: " p5", p25: " p25", p75: " p75", p95: " p95" };
    const kind = (line) => (line.kind === "main" && this.beside(line, "p95") ? " median" : (kinds[line.kind] ?? ""));
    const name = (line) => `${line.flow ?? this.panel.subjects[line.of]} ${this.point.engines[line.engine]}${kind(line)} (${this.panel.unit})`;
    const table = this.table(lines);
    return { header: ["time (s)", ...lines.map(name)], rows: Array.from(table[0], (_, i) => table.map((column) => column[i])) };
  }

  print() {
    this.paper.innerHTML = paperSvg(() => ({ ...this.figure(), title: null }));
  }
}
