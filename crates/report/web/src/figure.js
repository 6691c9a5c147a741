// Draws a figure with a pen: for print, for files, and for the distributions on the page.
import { marker } from "./pen.js";
import { alone, marked, ticks } from "./range.js";

/** Pixels between markers of one line. */
export const SPACING = 90;

/** Height of a box with its label. */
const ROW = 40;

/** The height of a figure: that of its boxes, or else the usual one. */
export const heightOf = (figure, usual) => (figure.boxes ? Math.max(120, figure.boxes.length * ROW + 50) : usual);

/**
 * Draws `figure`, `width` by `height`, and returns nothing.
 *
 * figure: { title, x, y, back, colours, under, bands, lines, boxes, key }
 * - x, y: { min, max, log, label, ticks: [[value, text]], top }; no tick is above `top`
 * - under: [{ from, to, colour }] shaded parts, and [{ at, colour }] dotted times
 * - bands: [{ x, low, high, colour, opacity }]
 * - lines: [{ x, y, colour, look, step, points, half }]
 * - boxes: [{ label, colour, look, q: [5, 25, 50, 75, 95 %], ends: [1, 99 %], mean }]
 * - key: [{ label, colour, look }]; without a look, what the colour stands for
 */
export function draw(pen, figure, width, height) {
  const { x, y, colours } = figure;
  const size = width < 420 ? 9.5 : 11;
  if (figure.back) pen.rect(0, 0, width, height, figure.back);
  let top = 6;
  if (figure.title) {
    top += size + 4;
    pen.text(4, top - 2, figure.title, { fill: colours.text, size: size + 1.5, bold: true });
    top += 6;
  }
  top = key(pen, figure, width, top, size);
  const left = figure.boxes ? 8 : 8 + size * 4.2;
  const right = Math.max(left, width - 10);
  const bottom = height - size * (x.label ? 3.4 : 1.9);
  const place = ({ min, max, log }, from, to) => {
    const f = log ? Math.log10 : (v) => v;
    return (v) => from + ((f(v) - f(min)) / (f(max) - f(min) || 1)) * (to - from);
  };
  const px = place(x, left, right);
  const py = place(y, bottom, top);
  pen.clipped(left, top, right - left, bottom - top, () => {
    for (const part of figure.under ?? []) {
      if (part.at != null) pen.path([[px(part.at), top], [px(part.at), bottom]], { stroke: part.colour, dash: [2, 3] });
      else pen.rect(px(Math.max(part.from, x.min)), top, Math.max(0, px(Math.min(part.to, x.max)) - px(Math.max(part.from, x.min))), bottom - top, part.colour);
    }
  });
  const xTicks = x.ticks ?? ticks(x.min, x.max, (right - left) / 52, x.log).map((v) => [v, round(v)]);
  let free = -Infinity;
  for (const [v, label] of xTicks) {
    const at = px(v);
    if (at < left - 0.5 || at > right + 0.5) continue;
    pen.path([[at, top], [at, bottom]], { stroke: colours.grid });
    const wide = pen.measure(label, size) / 2;
    if (at - wide < free) continue;
    const inside = Math.min(Math.max(at, wide), width - wide - 1);
    pen.text(inside, bottom + size * 1.4, label, { fill: colours.text, size, align: "center" });
    free = at + wide + 6;
  }
  if (x.label) pen.text((left + right) / 2, height - 5, x.label, { fill: colours.soft, size, align: "center" });
  const yTicks = figure.boxes ? [] : (y.ticks ?? ticks(y.min, y.max, (bottom - top) / 34, y.log).filter((v) => !(v > y.top)).map((v) => [v, round(v)]));
  for (const [v, label] of yTicks) {
    const at = py(v);
    if (at < top - 0.5 || at > bottom + 0.5) continue;
    pen.path([[left, at], [right, at]], { stroke: colours.grid });
    pen.text(left - 5, at + size * 0.36, label, { fill: colours.text, size, align: "right" });
  }
  const known = (v, axis) => v != null && Number.isFinite(v) && !(axis.log && v <= 0);
  pen.clipped(left, top, right - left, bottom - top, () => {
    for (const band of figure.bands ?? []) {
      for (const [from, to] of stretches(band.x, (i) => known(band.low[i], y) && known(band.high[i], y) && inside(band.x, i, x))) {
        const indices = Array.from({ length: to - from }, (_, i) => from + i);
        const edge = [...indices.map((i) => [px(band.x[i]), py(band.high[i])]), ...indices.reverse().map((i) => [px(band.x[i]), py(band.low[i])])];
        pen.path(edge, { fill: band.colour, opacity: band.opacity, close: true });
      }
    }
    for (const line of figure.lines ?? []) {
      const points = Array.from(line.x, (t, i) => (known(line.y[i], y) && inside(line.x, i, x) ? [px(t), py(line.y[i])] : null));
      const { look } = line;
      if (!line.points || line.join) pen.path(line.step ? steps(points) : points, { stroke: line.colour, width: look.width, dash: look.dash, opacity: look.opacity });
      if (!line.points) for (const i of alone(points.map((p) => p?.[1]))) pen.circle(...points[i], 2, { fill: line.colour, opacity: look.opacity });
      (line.half ?? []).forEach((half, i) => {
        if (half == null || !points[i]) return;
        const at = points[i][0];
        const low = known(line.y[i] - half, y) ? py(line.y[i] - half) : bottom;
        pen.path([[at, low], [at, py(line.y[i] + half)]], { stroke: line.colour, width: 1.5 });
      });
      if (line.points) points.forEach((p) => p && marker(pen, look.point, ...p, line.colour, colours.back, 3.5));
      else if (look.marker) {
        const xs = points.map((p) => p?.[0] ?? NaN);
        for (const i of marked(xs, points.map((p) => p?.[1]), SPACING, (line.nth ?? 0) * 17)) marker(pen, look.marker, ...points[i], line.colour, colours.back);
      }
    }
    (figure.boxes ?? []).forEach((box, i) => boxplot(pen, box, px, top, (bottom - top) / figure.boxes.length, i, colours, size));
  });
  pen.path([[left, top], [left, bottom], [right, bottom]], { stroke: colours.faint });
}

/** A round number. */
const round = (v) => (v !== 0 && (Math.abs(v) >= 1e7 || Math.abs(v) < 1e-4) ? v.toExponential() : String(v));

/** Whether a point or a neighbour is within the axis. */
function inside(xs, i, { min, max }) {
  return (xs[i] >= min || xs[i + 1] > min) && (xs[i] <= max || xs[i - 1] < max);
}

/** Runs of indices for which `holds`. */
function stretches(xs, holds) {
  const found = [];
  let from = -1;
  for (let i = 0; i <= xs.length; i++) {
    const in_ = i < xs.length && holds(i);
    if (in_ && from < 0) from = i;
    if (!in_ && from >= 0) {
      found.push([from, i]);
      from = -1;
    }
  }
  return found;
}

/** A value holds since the sample before: each period ends at its time. */
function steps(points) {
  return points.flatMap((p, i) => (p && points[i - 1] ? [[points[i - 1][0], p[1]], p] : [p]));
}

function boxplot(pen, { label, colour, look, q, ends, mean }, px, top, height, i, colours, size) {
  const middle = top + (i + 0.68) * height;
  const half = Math.min(height * 0.2, 9);
  const [low, first, median, third, high] = q.map(px);
  pen.text(px.left ?? 12, top + i * height + Math.min(height * 0.32, size + 4), label, { fill: colours.text, size });
  pen.path([[low, middle], [high, middle]], { stroke: colour, width: 1.5, dash: look.dash.length ? [5, 3] : [] });
  for (const at of [low, high]) pen.path([[at, middle - half * 0.6], [at, middle + half * 0.6]], { stroke: colour, width: 1.5 });
  const corners = [[first, middle - half], [third, middle - half], [third, middle + half], [first, middle + half]];
  pen.path(corners, { fill: colours.back, close: true });
  pen.path(corners, { fill: colour, opacity: 0.22, close: true });
  pen.path(corners, { stroke: colour, width: 1.5, close: true });
  pen.path([[median, middle - half], [median, middle + half]], { stroke: colour, width: 3 });
  for (const end of ends) pen.circle(px(end), middle, 1.8, { fill: colour });
  const at = px(mean);
  pen.path([[at, middle - 4], [at + 4, middle], [at, middle + 4], [at - 4, middle]], { stroke: colours.text, fill: colours.back, width: 1.2, close: true });
}

/** The key above the figure, in as many rows as it needs; returns where the plot begins. */
function key(pen, { key: items = [], colours }, width, top, size) {
  let x = 4;
  let y = top + size * 0.5;
  for (const { label, colour, look, points } of items) {
    const wide = 30 + pen.measure(label, size) + 10;
    if (x > 4 && x + wide > width - 4) {
      x = 4;
      y += size + 5;
    }
    if (look) {
      if (!points) pen.path([[x, y], [x + 24, y]], { stroke: colour, width: look.width, dash: look.dash, opacity: look.opacity });
      if (look.marker || points) marker(pen, points ? look.point : look.marker, x + 12, y, colour, colours.back);
    } else pen.rect(x + 6, y - 5, 12, 10, colour);
    pen.text(x + 28, y + size * 0.36, label, { fill: colours.text, size });
    x += wide;
  }
  return items.length > 0 ? y + size + 2 : top;
}
