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
    let limits;
    let known;
    let moving = false;
    const output = element("output");
    const input = element("input", { type: "range", min: 0, max: 1, step: 0.005, "aria-label": number.path });
    const show = ({ value, text, unit }) => {
      // A number that was typed or opened gets a range of its own; one of this slider keeps the range.
      const fresh = text !== known && !moving;
      if (fresh) limits = range(value, text, unit);
      known = text;
      output.textContent = unit ? `${text} ${unit}` : text;
      input.setAttribute("aria-valuetext", output.textContent);
      if (fresh || document.activeElement !== input) input.value = positionOf(value, limits);
    };
    input.addEventListener("input", () => {
      const now = this.found[i];
      const value = String(valueAt(Number(input.value), limits));
      if (value === now.text) return;
      moving = true;
      this.moved(now, value);
      moving = false;
    });
    show(number);
    return { show, node: element("label", {}, element("span", {}, number.path), input, output) };
  }
}
