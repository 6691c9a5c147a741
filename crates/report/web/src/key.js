// One key for all plots over time: the meaning of colours and lines, and the choice of lines.
import { element } from "./dom.js";
import { rove } from "./roving.js";
import { estimateLook, lineColour, look, theme } from "./theme.js";

/** Groups, links or aggregates that show before the reader asks for more. */
const FIRST_SUBJECTS = 8;
const NAMES = { group: "groups", link: "links", aggregate: "aggregates" };

export class Key {
  /** changed() is called when a line is shown or hidden. */
  constructor(point, changed) {
    this.point = point;
    this.kinds = new Map();
    for (const { kind, subjects } of point.panels) {
      const known = this.kinds.get(kind) ?? [];
      for (const name of subjects) if (!known.includes(name)) known.push(name);
      this.kinds.set(kind, known);
    }
    this.hidden = new Set();
    for (const [kind, names] of this.kinds) names.slice(FIRST_SUBJECTS).forEach((name) => this.hidden.add(`${kind} ${name}`));
    this.estimates = point.panels.some((panel) => panel.lines.some((line) => line.kind === "estimate"));
    this.node = element("div", { class: "key", "aria-label": "Key: which lines are shown" });
    this.changed = changed;
    this.draw();
  }

  /** The number that gives a subject its colour; groups, links and aggregates count on. */
  index(kind, name) {
    let before = 0;
    for (const [k, names] of this.kinds) {
      const at = names.indexOf(name);
      if ((kind == null || k === kind) && at >= 0) return before + at;
      before += names.length;
    }
    return before;
  }

  shows(kind, name, engine, estimate = false) {
    const subject = kind ?? [...this.kinds.keys()].find((k) => this.kinds.get(k).includes(name));
    return !this.hidden.has(`${subject} ${name}`) && !this.hidden.has(`engine ${engine}`) && !(estimate && this.hidden.has("estimate"));
  }

  /** The key of a figure with lines [{ subject, engine, estimate }], in the current colours. */
  items(lines) {
    const { soft } = theme();
    const each = (values) => [...new Set(values)];
    return [
      ...each(lines.map((line) => line.engine)).map((engine) => ({ label: engine, colour: soft, look: look(engine) })),
      ...(lines.some((line) => line.estimate) ? [{ label: "estimate", colour: soft, look: estimateLook }] : []),
      ...each(lines.map((line) => line.subject)).map((name) => ({ label: name, colour: lineColour("packet", this.index(null, name)) })),
    ];
  }

  draw() {
    const { soft } = theme();
    const rows = [];
    const drawn = new Set(this.point.panels.flatMap((panel) => panel.lines.map((line) => line.engine)));
    const engines = this.point.engines.filter((_, i) => drawn.has(i)).map((engine) => this.button(`engine ${engine}`, engine, lineSample(look(engine), soft)));
    if (this.estimates) engines.push(this.button("estimate", "controllers' estimate", lineSample(estimateLook, soft)));
    rows.push(row("engines", engines));
    for (const [kind, names] of this.kinds) {
      const buttons = names.map((name) => this.button(`${kind} ${name}`, name, colourSample(lineColour("packet", this.index(kind, name)))));
      rows.push(row(NAMES[kind], buttons));
    }
    this.node.replaceChildren(...rows);
    rove(this.node);
  }

  button(id, text, sample) {
    const button = element(
      "button",
      {
        type: "button",
        "aria-pressed": String(!this.hidden.has(id)),
        title: "Show or hide in all plots",
        onclick: () => {
          this.hidden.has(id) ? this.hidden.delete(id) : this.hidden.add(id);
          button.setAttribute("aria-pressed", String(!this.hidden.has(id)));
          this.changed();
        },
      },
      sample,
      text,
    );
    return button;
  }
}

function row(name, buttons) {
  return element("div", { class: "key-row", role: "group", "aria-label": name }, element("span", { class: "key-name" }, name), ...buttons);
}

function svg(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** A short piece of a line, or its point. */
export function lineSample({ dash, width, opacity = 1, marker, point, points }, colour) {
  const parts = points ? [] : [svg("line", { x1: 0, y1: 6, x2: 30, y2: 6, stroke: colour, opacity, "stroke-width": width, "stroke-dasharray": dash.join(" ") })];
  const shape = points ? point : marker;
  const edge = { fill: "var(--panel)", stroke: colour, "stroke-width": 1.5 };
  if (shape === "square") parts.push(svg("rect", { x: 12, y: 3, width: 6, height: 6, ...edge }));
  else if (shape === "diamond") parts.push(svg("path", { d: "M15 1.5L19.5 6L15 10.5L10.5 6Z", ...edge }));
  else if (shape === "circle") parts.push(svg("circle", { cx: 15, cy: 6, r: 3.2, ...edge }));
  else if (shape) parts.push(svg("circle", { cx: 15, cy: 6, r: 3.5, fill: colour }));
  return svg("svg", { width: 30, height: 12, "aria-hidden": "true" }, ...parts);
}

/** A patch of a colour. */
export function colourSample(colour) {
  return svg("svg", { width: 12, height: 12, "aria-hidden": "true" }, svg("rect", { width: 12, height: 12, rx: 3, fill: colour }));
}
