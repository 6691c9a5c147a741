// Colours. The page's style sheet holds them, for light, dark and print.

const media = matchMedia("(prefers-color-scheme: dark)");

/** The current colours. */
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    text: read("--text"),
    faint: read("--faint"),
    grid: read("--grid"),
    shade: read("--shade"),
    picked: read("--picked"),
    back: read("--panel"),
    // Okabe and Ito's palette, told apart by people with any colour vision.
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

/** Calls back when the colours change: another scheme, or print, which is always light. */
export function onThemeChange(redraw) {
  media.addEventListener("change", redraw);
  const set = (print) => () => {
    document.documentElement.classList.toggle("print", print);
    redraw();
  };
  addEventListener("beforeprint", set(true));
  addEventListener("afterprint", set(false));
}

/** How an engine's lines look. Theory's must stand out from the noise that it predicts. */
export const engines = {
  theory: { dash: [7, 4], width: 2, strong: true },
  fluid: { dash: [10, 3, 2, 3], width: 1.6 },
  packet: { dash: [], width: 1.3 },
  live: { dash: [4, 3], width: 1.6 },
};

/** The colour of an engine's lines about the n-th group or link. */
export function lineColour(engine, n) {
  const { lines, text } = theme();
  const colour = lines[n % lines.length];
  return engines[engine]?.strong ? mixed(colour, text) : colour;
}

/** What controllers believe: dotted. */
export const estimateDash = [1.5, 3];
