// The numbers of a scenario text, for sliders. TOML is read line by line, which is enough: what is
// missed has no slider, and the server says what is wrong.

const HEADER = /^\s*\[\[?([^\]]+)\]\]?\s*(?:#.*)?$/;
const PAIR = /([A-Za-z0-9_-]+)\s*=\s*(?:"(-?[0-9][0-9.]*(?:e-?[0-9]+)?)( [A-Za-zµ%/]+)"|(-?[0-9][0-9.]*(?:e-?[0-9]+)?)(?=[\s,}\]#]|$))/g;

/** Returns what a line says before its comment, which begins at the first # outside of quotes. */
function withoutComment(line) {
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    if (line[i] === '"') quoted = !quoted;
    else if (line[i] === "#" && !quoted) return line.slice(0, i);
  }
  return line;
}

/** Returns { path, value, unit, from, to }: `from` and `to` enclose the digits. */
export function numbers(text) {
  const found = [];
  let table = "";
  let at = 0;
  for (const line of text.split("\n")) {
    const header = HEADER.exec(line);
    const code = withoutComment(line);
    if (header) table = header[1].trim();
    else {
      for (const match of code.matchAll(PAIR)) {
        const [all, key, digits, unit, bare] = match;
        const number = digits ?? bare;
        const from = at + match.index + all.lastIndexOf(number);
        found.push({
          path: table ? `${table}.${key}` : key,
          value: Number(number),
          text: number,
          unit: (unit ?? "").trim(),
          from,
          to: from + number.length,
        });
      }
    }
    at += line.length + 1;
  }
  return found.filter(({ path, value }) => Number.isFinite(value) && !/^(expect|sweep)\b/.test(path));
}

/** Returns the range of a slider: a decade to either side, in steps that people would choose. */
export function range(value, text) {
  const whole = !/[.e]/.test(text);
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
