// A legend that is also the readout: a row for each group or link, a button for each line.
import { quantity } from "./data.js";
import { element } from "./dom.js";

/**
 * items: [{ subject, label, colour, dash, line }], in the order to show.
 * toggle(item, shown) is called for a click. Returns { node, read(values) }, where
 * values(item) gives an item's value at the cursor, or undefined for none.
 */
export function legend(items, unit, toggle) {
  const rows = new Map();
  const outputs = [];
  for (const item of items) {
    if (!rows.has(item.subject)) {
      rows.set(item.subject, element("div", { class: "lines" }));
    }
    const output = element("output", {}, "");
    outputs.push([item, output]);
    const button = element(
      "button",
      {
        type: "button",
        "aria-pressed": String(item.shown),
        title: "Show or hide this line",
        onclick: () => {
          item.shown = !item.shown;
          button.setAttribute("aria-pressed", String(item.shown));
          toggle(item, item.shown);
        },
      },
      sample(item),
      item.label,
      output,
    );
    rows.get(item.subject).append(button);
  }
  const row = ([subject, lines]) =>
    element("div", { class: "legend-row", role: "group", "aria-label": subject }, element("span", { class: "subject", title: subject }, subject), lines);
  const node = element("div", { class: "legend" }, ...[...rows].map(row));
  const read = (value) => {
    for (const [item, output] of outputs) {
      const v = value(item);
      output.textContent = v === undefined ? "" : quantity(v, unit);
    }
  };
  return { node, read };
}

/** A short piece of the line. */
function sample({ colour, dash, width, marker }) {
  const make = (name, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const svg = make("svg", { width: 22, height: 10, "aria-hidden": "true" });
  svg.append(make("line", { x1: 0, y1: 5, x2: 22, y2: 5, stroke: colour, "stroke-width": width, "stroke-dasharray": dash.join(" ") }));
  if (marker) svg.append(make("circle", { cx: 11, cy: 5, r: 3, fill: colour }));
  return svg;
}
