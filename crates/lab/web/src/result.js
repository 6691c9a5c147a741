// The result of a run, drawn as on the page of a run.
import { withMeasurements } from "./measured.js";
import { readPoints } from "../../../report/web/src/data.js";
import { element } from "../../../report/web/src/dom.js";
import { TimeSection } from "../../../report/web/src/time.js";

const NOTHING = "Theory and the fluid engine have no figures of this scenario. Run computes its packets.";

export class Result {
  /** `axes` are common to all results. */
  constructor(axes, buttons) {
    this.axes = axes;
    this.status = element("span", { class: "status", role: "status" });
    this.bar = element("progress", { max: 1, value: 0, hidden: true, "aria-label": "Progress of the run" });
    this.tables = element("div", { class: "tables" });
    this.notes = element("div", { class: "notes", role: "status" });
    this.plots = element("div", { class: "plots" });
    this.title = element("span");
    this.settings = element("span", { class: "settings" });
    this.node = element(
      "section",
      { class: "result" },
      element("header", {}, element("h2", {}, this.title, " ", this.settings), this.bar, this.status, element("span", { class: "buttons" }, ...buttons)),
      this.notes,
      this.plots,
      this.tables,
    );
  }

  /** Takes an event of a run, or of a preview. */
  take(event, preview = false) {
    if (event.event === "progress") {
      Object.assign(this.bar, { hidden: false, value: event.part });
      this.status.textContent = `${event.engine} ${Math.round(event.part * 100)} %`;
    } else if (event.event === "view") this.show(event, preview);
    else if (event.event === "failed") this.failed(event.message);
  }

  /** Takes the answer of a run: the number of the result, or null, and how long it took. */
  done({ run, seconds, digests }) {
    this.bar.hidden = true;
    // A preview has no number.
    Object.assign(this, { run: run ?? undefined, digests });
    this.status.textContent = `${seconds.toFixed(seconds < 1 ? 2 : 1)} s`;
  }

  /** Shows a text about the scenario, or none. */
  note(title, text) {
    this.notes.replaceChildren(...(text ? [element("h3", {}, title), element("pre", {}, text)] : []));
    if (text) this.status.textContent = "";
  }

  /** Returns the range of time and the hidden lines of the plots, for `look`. */
  lookNow() {
    const { time } = this;
    const whole = !time || (time.range[0] === 0 && time.range[1] === time.point.end);
    return { range: whole ? null : time.range, hidden: [...(time?.keys.hidden ?? [])] };
  }

  show(view, preview = false) {
    const { tables, plots } = (this.last = view);
    const plain = JSON.parse(plots);
    const data = this.measured ? withMeasurements(plain, this.measured) : plain;
    const points = readPoints(data.points);
    // A slider moves values only, so its plots stay.
    if (preview && !this.look && this.time?.takes(points)) {
      this.time.update(points);
      return this.tabulate(tables);
    }
    // The choices of the reader stay from view to view: `look` has those of an address that was opened.
    const { range, hidden } = this.look ?? this.lookNow();
    const linked = this.look !== undefined;
    this.look = undefined;
    const old = this.time;
    const subjects = (time) => JSON.stringify([...time.keys.kinds]);
    const place = element("div");
    this.plots.replaceChildren(place);
    old?.panels?.forEach((panel) => panel.plot.destroy());
    this.time = new TimeSection(place, points, data.id);
    this.axes.join(this.time);
    if (points[0].panels.length === 0) place.replaceChildren(element("p", { class: "nothing" }, NOTHING));
    if (range) this.time.zoom(...range);
    if (hidden.length > 0 && (linked || (old && subjects(old) === subjects(this.time)))) {
      this.time.keys.hidden = new Set(hidden);
      this.time.redraw();
      this.time.shownChanged();
    }
    this.tabulate(tables);
  }

  tabulate(tables) {
    this.tables.innerHTML = tables;
    this.tables.querySelectorAll("button").forEach((button) => (button.disabled = true));
  }

  /** Draws the last view again. */
  redraw() {
    if (this.last) this.show(this.last);
  }

  /** Returns whether measurements are among the lines. There are none before the first view. */
  drawsMeasurements() {
    return Boolean(this.measured && this.time) && this.time.points[0].engines.length > JSON.parse(this.last.plots).points[0].engines.length;
  }

  failed(message) {
    this.bar.hidden = true;
    this.status.textContent = "";
    const known = [...this.tables.querySelectorAll(".failed")].some((p) => p.textContent === message);
    if (!known) this.tables.prepend(element("p", { class: "failed" }, message));
  }
}
