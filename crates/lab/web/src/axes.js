// Common axes for the plots of all results.
import { Panel } from "../../../report/web/src/panel.js";

export class Axes {
  /** `results` returns the results on the page. */
  constructor(results) {
    this.results = results;
  }

  times() {
    return this.results().flatMap((result) => result.time ?? []);
  }

  /** Lets the plots of a result take the common axes. */
  join(time) {
    time.end = time.point.end;
    for (const panel of time.panels) {
      panel.values = () => this.values(panel);
      panel.say = (found) => (panel.found = found);
    }
    const zoom = time.zoom.bind(time);
    time.zoom = (min, max) => {
      zoom(min, max);
      if (this.zooming) return;
      this.zooming = true;
      for (const other of this.times()) if (other !== time) other.zoom(...time.range);
      this.zooming = false;
    };
    this.fit();
  }

  /** Draws all plots on their common axes. */
  fit() {
    const all = this.times();
    const end = Math.max(...all.map((time) => time.end));
    this.zooming = true;
    for (const time of all) {
      const whole = time.range[0] === 0 && time.range[1] === time.point.end;
      time.point.end = end;
      time.zoom(...(whole ? [0, end] : time.range));
    }
    this.zooming = false;
  }

  /** Returns the ends of a panel's axis of values: its own if the reader zoomed, else those of all panels of its quantity. */
  values(panel) {
    const alike = (one) => one === panel || (one.panel.title === panel.panel.title && one.panel.unit === panel.panel.unit && one.log === panel.log && one.all === panel.all && !one.range);
    const panels = panel.range ? [panel] : this.times().flatMap((time) => time.panels.filter(alike));
    const own = (one) => Panel.prototype.values.call(one);
    const ranges = panels.map(own).filter((_, i) => panels[i].found);
    if (ranges.length === 0) return own(panel);
    const range = [Math.min(...ranges.map(([low]) => low)), Math.max(...ranges.map(([, high]) => high))];
    const { found } = panel;
    Panel.prototype.say.call(panel, found && { ...found, low: Math.min(found.low, range[0]), high: Math.max(found.high, range[1]) });
    return range;
  }
}
