// Ranges and ticks of axes. Pure functions of numbers: ../test/range.test.mjs holds them.

/** The value below which a share of the sorted values lies, between neighbours by proportion. */
export function quantile(sorted, share) {
  const rank = share * (sorted.length - 1);
  const below = Math.floor(rank);
  const above = Math.ceil(rank);
  return sorted[below] + (sorted[above] - sorted[below]) * (rank - below);
}

/** How much of a line's values counts at each end, by what the line is. */
const TRIMMED = { line: 0.01, span: 0.05, model: 0.1 };
/** Samples that may be cut off at each end of a line, however short it is: at most a tenth of it. */
const FEW = 2.5;
/** What a spike may last, as a share of a line, and how far it has to stand out to be one. */
const TAIL = 0.05;
const SPIKE = 3;
/** What is shown anyway where it costs less than this share of the height. */
const CHEAP = 1.25;

/**
 * What a plot shows of its lines between the times `from` and `to`.
 *
 * lines: [{ x, y, role }] with role "line" for a measured mean, "span" for the ends of a band,
 * "model" for theory, which counts as a line where there is nothing else. The range holds all
 * but one per cent of a line at each end (of short lines two samples), and all of the steady part, so a spike at the start
 * does not flatten the rest. Returns { low, high, all: [min, max], positive } or null without
 * values; `positive` is the least positive value that counts.
 */
export function robust(lines, from, to, steady) {
  const measured = lines.some((line) => line.role !== "model");
  const shown = { low: Infinity, high: -Infinity, positive: Infinity };
  const all = [Infinity, -Infinity];
  const take = (low, high) => {
    shown.low = Math.min(shown.low, low);
    shown.high = Math.max(shown.high, high);
  };
  for (const { x, y, role } of lines) {
    const values = [];
    for (let i = 0; i < x.length; i++) {
      const v = y[i];
      if (v == null || !Number.isFinite(v) || x[i] < from || x[i] > to) continue;
      values.push(v);
      if (x[i] > steady[0] && x[i] <= steady[1]) take(v, v);
    }
    if (values.length === 0) continue;
    values.sort((a, b) => a - b);
    // One spike of a short line is more than its hundredth part.
    const least = Math.min(FEW / values.length, TRIMMED.model);
    const trim = Math.max(TRIMMED[role === "model" && !measured ? "line" : role], least);
    const at = (share) => [quantile(values, share), quantile(values, 1 - share)];
    let [low, high] = at(trim);
    // A longer spike: a few per cent are several times as far from zero as all others.
    const inner = at(Math.max(TAIL, trim));
    const base = Math.min(0, inner[0]);
    if (high - base > SPIKE * (inner[1] - base)) high = inner[1];
    if (inner[0] - low > SPIKE * (high - inner[0])) low = inner[0];
    take(low, high);
    const positive = values.filter((v) => v > 0);
    if (positive.length > 0) shown.positive = Math.min(shown.positive, quantile(positive, trim));
    all[0] = Math.min(all[0], values[0]);
    all[1] = Math.max(all[1], values[values.length - 1]);
  }
  if (all[0] > all[1]) return null;
  const span = shown.high - Math.min(shown.low, 0);
  if (all[1] - shown.high <= span * (CHEAP - 1)) shown.high = all[1];
  if (shown.low - all[0] <= span * (CHEAP - 1)) shown.low = all[0];
  return { ...shown, all };
}

/** An axis' ends around values from `low` to `high`. `most` is the largest value there can be. */
export function ends(low, high, { zero = false, most, log = false, positive } = {}) {
  if (log) {
    if (!(high > 0)) return [0.1, 1];
    const least = Number.isFinite(positive) && positive > 0 ? positive : high / 1000;
    return [Math.max(least * 0.8, high * 1e-6), high * 1.25];
  }
  let top;
  if (zero) top = high > 0 ? high * 1.06 : low < 0 ? 0 : 1;
  else top = high + ((high - low) * 0.08 || Math.abs(high) * 0.1 || 1);
  // A line at the very top has to be seen, too.
  if (most != null && high <= most) top = Math.min(top, most * 1.02);
  const bottom = zero ? Math.min(0, low * 1.06) : Math.max(low < 0 ? -Infinity : 0, low - ((high - low) * 0.08 || Math.abs(low) * 0.1 || 1));
  return [bottom, top];
}

/** A range made smaller or larger about a value that keeps its place. */
export function zoomed([min, max], factor, around) {
  const at = Math.min(Math.max(around, min), max);
  return [at - (at - min) * factor, at + (max - at) * factor];
}

/** Round numbers from `min` to `max`, about `count` of them. */
export function ticks(min, max, count, log = false) {
  if (log) return decades(min, max);
  const rough = (max - min) / Math.max(count, 1);
  if (!(rough > 0) || !Number.isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((s) => s >= rough * 0.999);
  const first = Math.ceil(min / step - 1e-9);
  const n = Math.floor(max / step + 1e-9) - first + 1;
  return Array.from({ length: n }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Powers of ten, and 2 and 5 times them where few fit; within less than that round numbers. */
export function decades(min, max) {
  const powers = [];
  // Written out: the power of a negative exponent is not always the nearest number.
  for (let e = Math.floor(Math.log10(min)); e <= Math.log10(max); e++) powers.push(Number(`1e${e}`));
  const steps = powers.length > 4 ? [1] : [1, 2, 5];
  const found = powers.flatMap((p) => steps.map((step) => Number((step * p).toPrecision(6)))).filter((v) => v >= min && v <= max);
  return found.length > 1 ? found : ticks(min, max, 4);
}

/** The ends of what points with intervals need: neither is cut off. */
export function extent(means, halves, log) {
  let [low, high, positive] = [Infinity, -Infinity, Infinity];
  means.forEach((line, i) =>
    line.forEach((mean, j) => {
      if (mean == null || (log && mean <= 0)) return;
      const half = halves[i][j] ?? 0;
      low = Math.min(low, mean - half);
      high = Math.max(high, mean + half);
      // On a logarithmic axis an interval that reaches zero goes down to the edge.
      positive = Math.min(positive, mean - half > 0 ? mean - half : mean > 0 ? mean : Infinity);
    }),
  );
  return low > high ? null : { low, high, positive };
}

/** The indices of the points to mark: about `spacing` pixels apart, the first after `offset`. */
export function marked(xs, ys, spacing, offset) {
  const found = [];
  let next = -Infinity;
  xs.forEach((x, i) => {
    if (next === -Infinity) next = Math.ceil((x - offset) / spacing) * spacing + offset;
    if (x < next || ys[i] == null || !Number.isFinite(ys[i])) return;
    found.push(i);
    next = Math.floor((x - offset) / spacing + 1) * spacing + offset;
  });
  return found;
}

/** The indices of the values without a neighbour: no line goes through them, so they need a dot. */
export function alone(values) {
  const known = (i) => values[i] != null && Number.isFinite(values[i]);
  return Array.from(values, (_, i) => i).filter((i) => known(i) && !known(i - 1) && !known(i + 1));
}

/** The width of an axis: what its widest label needs beside `rest`, and the usual one at least. */
export function room(labels, measure, rest, usual) {
  const widths = labels.map((label) => measure(label ?? ""));
  return Math.max(usual, Math.ceil(rest + Math.max(0, ...widths)));
}

/** A table as CSV; a name that a spreadsheet would take for a formula is none. */
export function csv(header, rows) {
  const name = (text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
  const field = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const value = (v) => (typeof v === "string" ? field(name(v)) : v == null || !Number.isFinite(v) ? "" : String(Number(v.toPrecision(9))));
  return [header.map((text) => field(name(text))).join(","), ...rows.map((row) => row.map(value).join(","))].join("\r\n") + "\r\n";
}

/** An axis whose values are all positive and so many times apart is logarithmic at first. */
const WIDE = 300;

/** Whether lines can have a logarithmic axis, and whether they should. */
export function suits(lines) {
  const known = lines.map((line) => line.filter((v) => v != null));
  // Lines that are zero throughout do not count.
  const values = known.filter((line) => line.some((v) => v !== 0)).flat();
  const [min, max] = [Math.min(...values), Math.max(...values)];
  return { possible: min >= 0 && max > 0, wide: min > 0 && max >= WIDE * min };
}

/**
 * Places on an axis of categories: each of `lines` beside the others, so none hides one.
 * Returns the places in order; that of line k at category i is at i * lines + k.
 */
export function beside(categories, lines) {
  const width = Math.min(0.6, 0.12 * lines);
  const shift = (k) => (lines === 1 ? 0 : (k / (lines - 1) - 0.5) * width);
  return Array.from({ length: categories * lines }, (_, j) => Math.floor(j / lines) + shift(j % lines));
}
