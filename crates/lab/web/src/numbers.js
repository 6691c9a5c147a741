// The values of a scenario text with their paths, as --set has them, for sliders and titles. This reads
// only a part of TOML: a number that it misses has no slider, and the server reports errors.

const TOKEN = /[ \t\r]*(?:(#[^\n]*)|("(?:[^"\\\n]|\\.)*"|'[^'\n]*')|([A-Za-z0-9_.+-]+)|([=,{}[\]\n]))/y;
const QUANTITY = /^(-?[0-9][0-9.]*(?:e-?[0-9]+)?)( ?[A-Za-zµ%/]+)?$/;

/** Returns the tokens of a text: { text, from, quoted }, without quotes. A line break is one. */
function tokens(text) {
  const found = [];
  for (let at = 0; at < text.length; ) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    at += match?.[0].length ?? 1;
    if (!match || match[1]) continue;
    const quoted = match[2] !== undefined;
    const token = match[2]?.slice(1, -1) ?? match[3] ?? match[4];
    found.push({ text: token, from: at - token.length - (quoted ? 1 : 0), quoted });
  }
  return found;
}

/** Returns the values of a text: { path, word, quoted, from, listed }. Values in lists are `listed`. */
export function values(text) {
  const found = [];
  const lists = new Map();
  let table = [];
  // Tables and lists within a value: { path, entries }, with entries in lists.
  const within = [];
  const all = tokens(text);
  let key = [];
  for (let i = 0; i < all.length; i++) {
    const { text: word, from, quoted } = all[i];
    const sign = quoted ? "" : word;
    const inner = within.at(-1);
    const path = inner?.entries ? [...inner.path, inner.entries] : [...(inner?.path ?? table), ...key];
    if (within.length === 0 && sign === "[" && (i === 0 || all[i - 1].text === "\n")) {
      const array = all[i + 1]?.text === "[";
      const name = [];
      for (i += array ? 2 : 1; i < all.length && !["]", "\n"].includes(all[i].text); i++) name.push(...keysOf(all[i]));
      if (array) i += 1;
      const dotted = name.join(".");
      if (array) lists.set(dotted, (lists.get(dotted) ?? 0) + 1);
      table = array ? [...name, lists.get(dotted)] : name;
      key = [];
    } else if (sign === "{") within.push({ path });
    else if (sign === "[") within.push({ path, entries: 1 });
    else if (sign === "}" || sign === "]") {
      within.pop();
      key = [];
    } else if (sign === ",") {
      if (inner?.entries) inner.entries += 1;
      else key = [];
    } else if (sign === "\n") {
      if (!inner) key = [];
    } else if (all[i + 1]?.text === "=" && !all[i + 1].quoted) {
      key = keysOf(all[i]);
      i += 1;
    } else if (inner?.entries || key.length > 0) found.push({ path, word, quoted, from, listed: Boolean(inner?.entries) });
  }
  return found;
}

/** Returns the numbers of a text: { path, value, text, unit, from, to }. `from` and `to` enclose the digits. */
export function numbers(text) {
  const all = values(text);
  // At each point the sweep replaces these values.
  const swept = new Set(all.filter(({ path }) => path[0] === "sweep" && path.includes("set")).map(({ word }) => word));
  return all.flatMap(({ path: keys, word, quoted, from, listed }) => {
    const path = keys.join(".");
    const match = listed ? null : QUANTITY.exec(word);
    if (!match || (match[2] === undefined) === quoted || /^(expect|sweep)\b/.test(path) || swept.has(path)) return [];
    const [, digits, unit = ""] = match;
    const number = { path, value: Number(digits), text: digits, unit: unit.trim(), from, to: from + digits.length };
    return Number.isFinite(number.value) ? [number] : [];
  });
}

/**
 * Returns, for each of several texts, the settings in which it differs from another: "alpha = 6 pkt".
 * A setting is named by the end of its path, as long as it takes to be the only one of that name.
 */
export function differences(texts) {
  const settings = texts.map((text) => new Map(values(text).filter(({ path }) => !["expect", "title"].includes(path[0])).map(({ path, word }) => [path.join("."), word])));
  const paths = [...new Set(settings.flatMap((one) => [...one.keys()]))];
  const differing = paths.filter((path) => new Set(settings.map((one) => one.get(path))).size > 1);
  const short = (path) => {
    const keys = path.split(".");
    const end = (n) => keys.slice(-n).join(".");
    let n = 1;
    while (n < keys.length && differing.some((other) => other !== path && `.${other}`.endsWith(`.${end(n)}`))) n += 1;
    return end(n);
  };
  return settings.map((one) => differing.map((path) => `${short(path)} = ${one.get(path) ?? "default"}`));
}

/** The keys of a token: a quoted one is one key, whatever dots it has. */
const keysOf = ({ text, quoted }) => (quoted ? [text] : text.split(".").filter((part) => part !== ""));

/** Returns the range of a slider: a decade to either side, in steps that people would choose. Counts stay whole. */
export function range(value, text, unit = "") {
  const whole = !/[.e]/.test(text) && (unit === "" || unit === "pkt");
  if (value <= 0) return { scale: "linear", least: 0, most: 10, whole };
  return { scale: "log", least: whole && value < 10 ? 1 : value / 10, most: value * 10, whole };
}

/** Returns the value at a slider's position from 0 to 1, rounded to two digits. */
export function valueAt(position, { scale, least, most, whole }) {
  const raw = scale === "log" ? least * (most / least) ** position : least + (most - least) * position;
  if (raw === 0) return 0;
  const step = 10 ** (Math.floor(Math.log10(raw)) - 1);
  const rounded = Math.round(raw / step) * step;
  return whole && rounded >= 1 ? Math.round(rounded) : Number(rounded.toPrecision(2));
}

/** Returns the position of a value. */
export function positionOf(value, { scale, least, most }) {
  if (scale === "log") return Math.log(value / least) / Math.log(most / least);
  return (value - least) / (most - least);
}
