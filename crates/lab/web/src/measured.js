// Measurements that are drawn over the plots: the series of a run directory, of a live run or of an import.
import { parquetMetadata, parquetReadObjects } from "hyparquet";

/** The file of a run directory that has the series. */
export const SERIES = "series.parquet";
/** The largest such file, in bytes, and in rows: the page waits while they are read. */
export const LARGEST_SERIES = 64 << 20;
const MOST_ROWS = 400_000;
/** The engine whose series are measurements. */
const ENGINE = "live";
/** The metrics of the plots that measurements have, by the plots' titles. */
const METRICS = {
  "Throughput of a flow": "throughput",
  "Congestion window": "cwnd",
  "Round-trip time": "rtt",
  Queue: "backlog_packets",
  Utilisation: "utilisation",
  Price: "price",
};
/** The units of plots, in those of the series. */
const UNITS = { bps: 1, Kbps: 1e3, Mbps: 1e6, Gbps: 1e9, Tbps: 1e12, B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, pkt: 1, "%": 0.01 };

/** Returns whether bytes begin as a Parquet file does. */
export const isParquet = (bytes) => new TextDecoder("latin1").decode(bytes.slice(0, 4)) === "PAR1";

/** Reads the series of a file: { name, start, step, n, of }, `of` by the metric and then by the kind and name of a flow or link. */
export async function readMeasurements(name, bytes) {
  const columns = ["run", "engine", "entity_kind", "entity", "metric", "time_s", "value"];
  let rows;
  let count;
  try {
    count = Number(parquetMetadata(bytes).num_rows);
    if (count <= MOST_ROWS) rows = await parquetReadObjects({ file: bytes, columns });
  } catch (error) {
    throw new Error(`${name} is not the series of a run: ${error.message}`);
  }
  if (!rows) throw new Error(`${name} is too large for the laboratory: it has ${count} values, and ${MOST_ROWS} are the most. A longer --sample makes it smaller.`);
  const measured = rows.filter(({ engine }) => engine === ENGINE);
  if (measured.length === 0) {
    const engines = [...new Set(rows.map(({ engine }) => engine))];
    throw new Error(`${name} has no measurements: its engines are ${engines.join(" and ") || "none"}. Measurements come from live runs and from accord import run.`);
  }
  const first = measured.filter(({ run }) => run === measured[0].run);
  const times = [...new Set(first.map(({ time_s }) => time_s))].sort((a, b) => a - b);
  const place = new Map(times.map((time, i) => [time, i]));
  const of = {};
  for (const { entity_kind, entity, metric, time_s, value } of first) {
    const series = ((of[metric] ??= {})[`${entity_kind} ${entity}`] ??= Array(times.length).fill(null));
    series[place.get(time_s)] = Number.isFinite(value) ? value : null;
  }
  const step = times.length > 1 ? (times.at(-1) - times[0]) / (times.length - 1) : 1;
  return { name, start: times[0], step, n: times.length, of };
}

/** Returns the values of a group or link: of a group the mean over its flows. */
function valuesOf(series, kind, subject, only) {
  if (kind === "link") return series[`link ${subject}`];
  const names = Object.keys(series).filter((key) => key.startsWith("flow "));
  const own = names.filter((key) => key.slice(5).replace(/\.\d+$/, "") === subject);
  // Flows without a name that the scenario knows belong to its only group.
  const flows = (own.length > 0 || !only ? own : names).map((key) => series[key]);
  if (flows.length === 0) return undefined;
  return flows[0].map((_, i) => {
    const there = flows.map((values) => values[i]).filter((value) => value !== null);
    return there.length > 0 ? there.reduce((sum, value) => sum + value, 0) / there.length : null;
  });
}

/** Returns the data of plots with measurements over them. */
export function withMeasurements(data, { start, step, n, of }) {
  const [point, ...others] = data.points;
  const engine = point.engines.length;
  const panels = point.panels.map((panel) => {
    const series = of[METRICS[panel.title]];
    const unit = UNITS[panel.unit];
    if (!series || !unit) return panel;
    const lines = panel.subjects.flatMap((subject, i) => {
      const values = valuesOf(series, panel.kind, subject, panel.subjects.length === 1);
      return values ? [{ of: i, engine, kind: "main", v: values.map((value) => (value === null ? null : value / unit)) }] : [];
    });
    return { ...panel, lines: [...panel.lines, ...lines] };
  });
  const drawn = panels.some((panel) => panel.lines.some((line) => line.engine === engine));
  if (!drawn) return data;
  return { ...data, points: [{ ...point, engines: [...point.engines, ENGINE], axes: [...point.axes, [start, step, n]], panels }, ...others] };
}

/** Returns the file with the series of a dropped directory. */
export async function seriesOf(directory) {
  const file = await new Promise((resolve) => directory.getFile(SERIES, {}, resolve, () => resolve(null)));
  if (!file) throw new Error(`${directory.name} is not the directory of a run: it has no ${SERIES}.`);
  return new Promise((resolve, reject) => file.file(resolve, reject));
}
