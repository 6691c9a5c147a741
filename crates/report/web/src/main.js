// The page's plots, from the JSON that the page carries.
import { readPoints } from "./data.js";
import { SweepSection } from "./sweep.js";
import { TimeSection } from "./time.js";
import { rove } from "./roving.js";
import { onThemeChange } from "./theme.js";

const data = JSON.parse(document.getElementById("data").textContent);
const root = document.getElementById("plots");
root.replaceChildren();

const points = readPoints(data.points);
// The page begins with a figure: of a run the plot that its scenario is about, of a sweep its overview
// and that plot of the point one is looking at.
const lead = document.getElementById("figure");
lead.replaceChildren();
lead.classList.add("grid");
const sweep = data.sweep && new SweepSection(root, data.sweep, data.id, lead);
const time = points.length > 0 && new TimeSection(root, points, data.id, lead);
// Two or three named points, such as controllers, are compared over time.
if (time && data.sweep?.ticks?.length <= 3) lead.append(lead.firstElementChild);

onThemeChange(() => {
  sweep?.redraw();
  time && time.redraw();
});

// Paper has figures of its own size in its own colours, drawn when it is needed.
const page = document.documentElement;
function print() {
  page.classList.add("print");
  sweep?.print();
  if (time) {
    time.print();
    time.spread.print();
  }
}
addEventListener("beforeprint", print);
addEventListener("afterprint", () => page.classList.remove("print"));

// Tables that are wider than the page scroll, by keyboard, too.
for (const box of document.querySelectorAll(".scroll")) {
  if (box.scrollWidth > box.clientWidth) Object.assign(box, { tabIndex: 0, role: "region", ariaLabel: "Table" });
}

// Checks lead to their window and their point, and the overview of a sweep to its points.
for (const button of document.querySelectorAll("button[data-point]")) {
  const point = Number(button.dataset.point);
  if (!time || point >= points.length) {
    button.disabled = true;
    continue;
  }
  const window = button.dataset.window?.split(",").map(Number);
  button.title = window ? "Show this part in the plots" : "Show this point in the plots";
  button.addEventListener("click", () => time.show(point, window));
}
for (const table of document.querySelectorAll("#checks table")) {
  if (table.querySelector("button")) rove(table, null);
}
