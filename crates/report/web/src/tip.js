// The reading at the cursor, next to it.
import { element } from "./dom.js";
import { lineSample } from "./key.js";

const MOST = 14;

/** Shows rows [{ look, colour, label, text }] under a heading; hides the reading without one. */
export function tell(tip, heading, rows, share) {
  tip.hidden = !heading;
  if (!heading) return;
  const line = ({ look, colour, label, text }) => element("span", { class: "tip-row" }, lineSample(look, colour), element("span", {}, label), element("b", {}, text));
  const more = rows.length > MOST ? [element("span", {}, `and ${rows.length - MOST} more`)] : [];
  tip.replaceChildren(element("span", { class: "tip-head" }, heading), ...rows.slice(0, MOST).map(line), ...more);
  // On the other side of the cursor, so it hides nothing there.
  tip.classList.toggle("left", share > 0.5);
}
