// Figures as files: SVG, PNG, and their data as CSV.
import { element } from "./dom.js";
import { draw, heightOf } from "./figure.js";
import { CanvasPen, SvgPen } from "./pen.js";
import { csv } from "./range.js";
import { onPaper } from "./theme.js";

const WIDTH = 760;
const HEIGHT = 430;
/** Pixels of a PNG per unit. */
const SCALE = 2;
/** Print: two plots side by side on A4, in CSS pixels. */
const PAPER = [345, 225];

/** figure() makes the figure in the current colours; the files are in those of paper. */
export function svgOf(figure, width, height) {
  return onPaper(() => {
    const made = figure();
    const pen = new SvgPen();
    const own = heightOf(made, height);
    draw(pen, made, width, own);
    return pen.svg(width, own, made.name);
  });
}

export const paperSvg = (figure) => svgOf(() => ({ ...figure(), back: null }), ...PAPER);

/** The buttons that save a figure; table() gives { header, rows }. */
export function saving(name, figure, table) {
  const svg = () => save(`${name()}.svg`, "image/svg+xml", svgOf(figure, WIDTH, HEIGHT));
  const png = () => {
    const canvas = element("canvas", { width: WIDTH * SCALE });
    onPaper(() => {
      const made = figure();
      const height = heightOf(made, HEIGHT);
      canvas.height = height * SCALE;
      draw(new CanvasPen(canvas.getContext("2d"), SCALE), made, WIDTH, height);
    });
    canvas.toBlob((blob) => offer(`${name()}.png`, blob));
  };
  const data = () => {
    const { header, rows } = table();
    save(`${name()}.csv`, "text/csv", csv(header, rows));
  };
  return [
    ["SVG", "Save as SVG", svg],
    ["PNG", "Save as PNG", png],
    ["CSV", "Save the data that the plot shows as CSV", data],
  ];
}

/** A name for a file: plain letters, digits and hyphens. */
export function fileName(...parts) {
  const words = parts.filter(Boolean).join("-").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return words.replace(/^-|-$/g, "").slice(0, 80) || "plot";
}

function save(name, type, text) {
  offer(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

function offer(name, blob) {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

