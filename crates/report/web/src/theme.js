// Colours and lines. The page's style sheet holds the colours, for light, dark and print.

const media = matchMedia("(prefers-color-scheme: dark)");

/** The colours until the end of this task: a page asks for them for every line. */
let known;

/** The current colours. */
export function theme() {
  if (!known) {
    known = colours();
    queueMicrotask(() => (known = undefined));
  }
  return known;
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    text: read("--text"),
    soft: read("--soft"),
    faint: read("--faint"),
    grid: read("--grid"),
    shade: read("--shade"),
    picked: read("--picked"),
    back: read("--panel"),
    // Okabe and Ito's palette, distinguishable with any colour vision.
    lines: Array.from({ length: 8 }, (_, i) => read(`--line-${i}`)),
  };
}

/** A colour with an opacity of its own. */
export function faded(colour, opacity) {
  const alpha = Math.round(opacity * 255).toString(16).padStart(2, "0");
  return colour + alpha;
}

/** A colour moved halfway towards another. Both are written as #rrggbb. */
export function mixed(colour, other) {
  const channel = (text, i) => parseInt(text.slice(i, i + 2), 16);
  const half = (i) => Math.round((channel(colour, i) + channel(other, i)) / 2);
  return `#${[1, 3, 5].map((i) => half(i).toString(16).padStart(2, "0")).join("")}`;
}

export function onThemeChange(redraw) {
  media.addEventListener("change", redraw);
}

/** Does `work` in the colours of paper, which is always light. */
export function onPaper(work) {
  const root = document.documentElement;
  const was = root.classList.contains("print");
  root.classList.add("print");
  known = undefined;
  try {
    return work();
  } finally {
    root.classList.toggle("print", was);
    known = undefined;
  }
}

/**
 * How an engine's lines look. They are told apart by more than a dash: fluid is a broad pale line
 * below, packet a thin one, live a thin one with circles, theory dashes with squares on top,
 * as it must stand out from the noise that it predicts. `point` is the shape of single points.
 */
export const engines = {
  fluid: { order: 0, dash: [], width: 5.5, opacity: 0.38, point: "diamond" },
  packet: { order: 1, dash: [], width: 1.3, opacity: 1, point: "dot" },
  live: { order: 2, dash: [], width: 1.2, opacity: 1, marker: "circle", point: "circle" },
  theory: { order: 3, dash: [8, 4], width: 2, opacity: 1, marker: "square", point: "square", strong: true },
};

/** What controllers believe: dotted. */
export const estimateLook = { order: 2.5, dash: [1.5, 3], width: 2, opacity: 1 };

export function look(engine) {
  return engines[engine] ?? engines.packet;
}

/** The colour of the n-th group or link for an engine. */
export function lineColour(engine, n) {
  const { lines, text } = theme();
  const colour = lines[n % lines.length];
  return look(engine).strong ? mixed(colour, text) : colour;
}
