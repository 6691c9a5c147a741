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

/** How an engine's lines look. */
export const engines = {
  theory: { dash: [7, 4], width: 2 },
  packet: { dash: [], width: 1.5 },
};

/** What controllers believe: dotted. */
export const estimateDash = [1.5, 3];
