// Unpacks the series of the page.

/** Points of the page with full arrays of numbers, null where there is none. */
export function readPoints(points) {
  return points.map((point) => ({
    ...point,
    axes: point.axes.map(([start, step, n]) => Float64Array.from({ length: n }, (_, i) => start + step * i)),
    panels: point.panels.map((panel) => ({
      ...panel,
      lines: panel.lines.map((line) => ({ ...line, v: unpack(line.v) })),
    })),
  }));
}

/** A line is a list of numbers, or { n, v }: the value v[i], n[i] times. */
export function unpack(line) {
  if (Array.isArray(line)) return line;
  return line.n.flatMap((n, i) => Array(n).fill(line.v[i]));
}

/** Whether two time axes are the same to within a thousandth of their step. */
export function sameAxis(a, b) {
  const last = a.length - 1;
  const tolerance = last > 0 ? ((a[last] - a[0]) / last) * 1e-3 : 1e-9;
  return a.length === b.length && Math.abs(a[0] - b[0]) <= tolerance && Math.abs(a[last] - b[last]) <= tolerance;
}

/** A number for people: three significant digits, four where the first is a 1. */
export function number(value) {
  if (value == null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e7) return value.toExponential(2);
  const magnitude = Math.floor(Math.log10(size));
  const digits = 2 + (size / 10 ** magnitude < 1.9995 ? 1 : 0) - magnitude;
  return value.toFixed(Math.min(Math.max(digits, 0), 8));
}

/** A number with its unit. */
export function quantity(value, unit) {
  const text = number(value);
  return text === "–" || unit === "" ? text : `${text}\u00a0${unit}`;
}
