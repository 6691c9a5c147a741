// The page's plots, from the JSON that the page carries.
import { readPoints } from "./data.js";
import { SweepSection } from "./sweep.js";
import { TimeSection } from "./time.js";
import { onThemeChange } from "./theme.js";

const data = JSON.parse(document.getElementById("data").textContent);
const root = document.getElementById("plots");
root.replaceChildren();

const points = readPoints(data.points);
const sweep = data.sweep && new SweepSection(root, data.sweep);
const time = points.length > 0 && new TimeSection(root, points);

onThemeChange(() => {
  sweep?.redraw();
  time && time.redraw();
});

// Checks lead to their window and their point.
for (const button of document.querySelectorAll("#checks button[data-point]")) {
  const point = Number(button.dataset.point);
  if (!time || point >= points.length) {
    button.disabled = true;
    continue;
  }
  const window = button.dataset.window?.split(",").map(Number);
  button.title = window ? "Show this part in the plots" : "Show this point in the plots";
  button.addEventListener("click", () => time.show(point, window));
}
