// A slider for each number of a scenario.
import { element } from "../../../report/web/src/dom.js";
import { numbers, positionOf, range, valueAt } from "./numbers.js";

/** The maximum number of sliders, and of letters in a text that has some. */
const MOST_SLIDERS = 200;
export const MOST_LETTERS = 1 << 18;

export class Sliders {
  /** `moved(number, value)` hears of a number of the text, with its place, and of its new value as text. */
  constructor(root, moved) {
    Object.assign(this, { root, moved });
  }

  /** Shows the numbers of a text. */
  show(text) {
    const found = text.length > MOST_LETTERS ? [] : numbers(text).slice(0, MOST_SLIDERS);
    const names = found.map(({ path, unit }) => `${path} ${unit}`).join("\n");
    // While a slider is held the others stay where they are.
    if (names === this.names) {
      this.found = found;
      found.forEach((number, i) => this.rows[i].show(number));
      return;
    }
    [this.names, this.found] = [names, found];
    this.rows = found.map((number, i) => this.slider(number, i));
    this.root.replaceChildren(...this.rows.map((row) => row.node));
  }

  slider(number, i) {
    const limits = range(number.value, number.text, number.unit);
    const output = element("output");
    const input = element("input", { type: "range", min: 0, max: 1, step: 0.005, "aria-label": number.path });
    const show = ({ value, text, unit }) => {
      output.textContent = unit ? `${text} ${unit}` : text;
      if (document.activeElement !== input) input.value = positionOf(value, limits);
    };
    input.addEventListener("input", () => {
      const now = this.found[i];
      const value = String(valueAt(Number(input.value), limits));
      if (value !== now.text) this.moved(now, value);
    });
    show(number);
    return { show, node: element("label", {}, element("span", {}, number.path), input, output) };
  }
}
