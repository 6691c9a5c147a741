// The plots over time, of one point at a time, with one time axis and one key for all.
import { number } from "./data.js";
import { element } from "./dom.js";
import { Key, colourSample, lineSample } from "./key.js";
import { Panel } from "./panel.js";
import { rove } from "./roving.js";
import { SpreadSection } from "./spread.js";

export class TimeSection {
  /** The first plot of a point goes to `lead`, if there is one. */
  constructor(root, points, id, lead) {
    this.points = points;
    this.selects = [];
    this.lead = lead && element("div", { class: "lead" });
    this.id = id;
    this.flows = false;
    this.picked = null;
    this.reader = null;
    this.next = 0;
    this.clock = element("span", { class: "clock", "aria-hidden": "true" });
    this.grid = element("div", { class: "grid" });
    const controls = element("div", { class: "controls", "aria-label": "Time axis of all plots" }, ...this.controls());
    rove(controls);
    this.keyPlace = element("div");
    this.spreads = element("div");
    root.append(
      element("h2", {}, "Over time"),
      element("div", { class: "head" }, controls, this.keyPlace),
      this.grid,
      element("p", { class: "hint" }, "Drag to zoom, double-click for all. Shaded: the steady part; dotted: where a phase begins. With a plot in focus: ← → move the reading, + − zoom, shift with ← → moves along, shift with ↑ ↓ zooms the values, 0 shows all, page up and page down go to the next plot. In a row of buttons arrows move from one to the next."),
      this.spreads,
    );
    const sizes = new ResizeObserver(() => this.fit());
    sizes.observe(this.grid);
    if (this.lead) {
      lead.append(this.lead);
      sizes.observe(this.lead);
    }
    this.open(0);
  }

  /** Returns whether points differ from these in their values only. */
  takes(points) {
    const shape = ({ engines, label, steady, phases, panels }) => [engines, label, steady, phases, panels.map(({ lines, title, unit, kind, subjects, most, zero }) => [title, unit, kind, subjects, most, zero, lines.map((line) => [line.kind, line.engine, line.of, line.flow])])];
    const ends = points.every(({ end }) => end === this.point.end);
    return ends && JSON.stringify(points.map(shape)) === JSON.stringify(this.points.map(shape));
  }

  /** Draws other values of the same lines where the reader sees them. The other plots stay as they are. */
  update(points) {
    const index = this.points.indexOf(this.point);
    const seen = this.panels.map(({ node }) => {
      const { top, bottom } = node.getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    });
    [this.points, this.point] = [points, points[index]];
    this.panels.forEach((panel, i) => seen[i] && panel.update(this.point, this.point.panels[i]));
  }

  controls() {
    const button = (label, text, onclick) => element("button", { type: "button", "aria-label": label, title: label, onclick }, text);
    const flows = element(
      "label",
      {},
      element("input", { type: "checkbox", onchange: (event) => this.showFlows(event.target.checked) }),
      " single flows",
    );
    const several = this.points.some((p) => p.panels.some((panel) => panel.lines.some((line) => line.kind === "flow")));
    return [
      ...this.pointSelect((i) => this.show(i)),
      button("Zoom in", "+", () => this.zoomBy(0.5)),
      button("Zoom out", "−", () => this.zoomBy(2)),
      button("Earlier", "←", () => this.move(-0.25)),
      button("Later", "→", () => this.move(0.25)),
      button("Show all of the run", "all", () => this.zoomAll()),
      button("Show the steady part", "steady part", () => this.zoom(...this.point.steady)),
      ...(several ? [flows] : []),
      this.clock,
    ];
  }

  /** A list of the points, if there are several. */
  pointSelect(choose) {
    if (this.points.length < 2) return [];
    const options = this.points.map((point, i) => element("option", { value: i }, point.label || `point ${i + 1}`));
    const select = element("select", { onchange: () => choose(Number(select.value)) }, ...options);
    this.selects.push(select);
    return [element("label", {}, "Point ", select)];
  }

  open(index) {
    this.point = this.points[index];
    this.range = [0, this.point.end];
    this.panels?.forEach((panel) => panel.plot.destroy());
    this.keys = new Key(this.point, () => this.shownChanged());
    this.keyPlace.replaceChildren(this.keys.node);
    this.panels = this.point.panels.map((panel, i) => new Panel(this.point, panel, this, i === 0 && !!this.lead));
    const nodes = this.panels.map((panel) => panel.node);
    if (this.lead && nodes.length > 0) {
      this.legend = element("div", { class: "legend" });
      const select = (this.leadSelect ??= this.pointSelect((i) => this.open(i)));
      this.lead.replaceChildren(nodes.shift());
      this.lead.firstChild.prepend(...select);
      this.lead.firstChild.querySelector(".frame").before(this.legend);
    }
    this.selects.forEach((select) => (select.value = index));
    this.grid.replaceChildren(...nodes);
    this.spread = new SpreadSection(this.spreads, this.point, this);
    this.redraw();
    this.reach(this.panels[0]);
    this.zoomAll();
  }

  /** Shows a point, and in it a check's window, if there is one. */
  show(index, window) {
    this.picked = window ?? null;
    if (this.point !== this.points[index]) this.open(index);
    this.panels.forEach((panel) => panel.plot.redraw(false));
    if (window) {
      const margin = (window[1] - window[0]) * 0.25;
      this.zoom(window[0] - margin, window[1] + margin);
    }
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.grid.scrollIntoView({ behavior: still ? "auto" : "smooth", block: "start" });
  }

  redraw() {
    // Before anything changes: one layout of the page gives all widths.
    const widths = this.panels.map(({ body }) => body.clientWidth);
    this.quietly(() => this.panels.forEach((panel, i) => panel.draw(widths[i])));
    this.keys.draw();
    this.spread.draw();
    this.drawLegend();
  }

  /** What the lines of the first plot are, above it. */
  drawLegend() {
    if (!this.legend) return;
    const { items } = this.panels[0];
    this.legend.replaceChildren(
      ...this.keys.items(items.filter((item) => this.panels[0].visible(item.line))).map(({ label, colour, look }) => element("span", {}, look ? lineSample(look, colour) : colourSample(colour), label)),
    );
  }

  shownChanged() {
    this.panels.forEach((panel) => panel.applyVisibility());
    this.spread.draw();
    this.drawLegend();
  }

  fit() {
    for (const { plot, body } of this.panels) {
      if (plot.width !== body.clientWidth) plot.setSize({ width: body.clientWidth, height: plot.height });
    }
    this.spread.draw();
  }

  showFlows(shown) {
    this.flows = shown;
    this.panels.forEach((panel) => panel.applyVisibility());
  }

  marks(point) {
    return { steady: point.steady, phases: point.phases, picked: this.picked };
  }

  time(t) {
    const text = t == null ? "" : `t = ${number(t)} s`;
    if (this.clock.textContent !== text) this.clock.textContent = text;
  }

  /** The panel that tells its values at the cursor; by keyboard it tells a screen reader, too. */
  reads(panel, aloud) {
    if (this.reader && this.reader !== panel) this.reader.tip.hidden = true;
    this.reader = panel;
    panel?.tip.setAttribute("aria-live", aloud ? "polite" : "off");
  }

  /** The tab key reaches one plot, the one that was used last. */
  reach(panel) {
    this.panels.forEach((p) => p !== panel && p.reachable(false));
    panel?.reachable(true);
  }

  quietly(work) {
    this.quiet = true;
    work();
    this.quiet = false;
  }

  /** A panel was zoomed: so are all. */
  zoomed(panel, { min, max }) {
    if (this.quiet || (min === this.range[0] && max === this.range[1])) return;
    this.zoom(min, max);
  }

  zoom(min, max) {
    const end = this.point.end;
    const least = end / 1e4;
    min = Math.max(0, Math.min(min, end - least));
    max = Math.min(end, Math.max(max, min + least));
    this.range = [min, max];
    this.quietly(() => this.panels.forEach(({ plot }) => plot.setScale("x", { min, max })));
  }

  zoomAll() {
    this.panels.forEach((panel) => (panel.range = null));
    this.zoom(0, this.point.end);
  }

  zoomBy(factor) {
    const [min, max] = this.range;
    const middle = (min + max) / 2;
    const half = ((max - min) / 2) * factor;
    this.zoom(middle - half, middle + half);
  }

  /** Moves along by a share of what is visible, without going past the ends. */
  move(share) {
    const [min, max] = this.range;
    const span = max - min;
    const from = Math.min(Math.max(0, min + share * span), this.point.end - span);
    this.zoom(from, from + span);
  }

  key(event, panel) {
    const u = panel.plot;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step && event.shiftKey) this.move(step * 0.1);
    else if (step) {
      const width = u.over.clientWidth;
      const from = u.cursor.left >= 0 ? u.cursor.left : width / 2;
      const left = Math.min(Math.max(0, from + (step * width) / 100), width);
      this.reads(panel, true);
      this.panels.forEach(({ plot }) => plot.setCursor({ left, top: plot.over.clientHeight / 2 }, true, false));
    } else if (event.shiftKey && event.key === "ArrowUp") panel.zoomValues(0.5);
    else if (event.shiftKey && event.key === "ArrowDown") panel.zoomValues(2);
    else if (event.key === "PageUp" || event.key === "PageDown") {
      const next = this.panels[this.panels.indexOf(panel) + (event.key === "PageUp" ? -1 : 1)];
      if (!next) return;
      this.reach(next);
      next.body.focus();
    } else if (event.key === "+" || event.key === "=") this.zoomBy(0.5);
    else if (event.key === "-") this.zoomBy(2);
    else if (event.key === "0" || event.key === "Escape") this.zoomAll();
    else return;
    event.preventDefault();
  }

  print() {
    this.panels.forEach((panel) => panel.print());
  }
}
