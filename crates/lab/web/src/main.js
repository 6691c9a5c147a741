// The laboratory: editor, network and sliders on one side, results on the other.
import * as api from "./api.js";
import { element } from "../../../report/web/src/dom.js";
import { onThemeChange } from "../../../report/web/src/theme.js";
import { Editor } from "./editor.js";
import { drawing } from "./network.js";
import { numbers, positionOf, range, valueAt } from "./numbers.js";
import { Result } from "./result.js";

/** After a change theory and fluid wait this long for the next one, in milliseconds. */
const PAUSE = 80;
/** Results that are kept beside the current one. */
const MOST_KEPT = 3;

const byId = (id) => document.getElementById(id);
const message = (text) => (byId("message").textContent = text);

class Laboratory {
  constructor(start, schema, gallery) {
    this.start = start;
    this.editor = new Editor(byId("editor"), {
      schema,
      changed: () => this.changed(),
      run: () => this.run(),
      save: () => this.save(),
    });
    this.result = new Result("Now", [
      this.button("Keep beside", () => this.keep()),
      this.button("Export", () => this.export(this.result)),
    ]);
    byId("results").append(this.result.node);
    this.fill(gallery);
    byId("run").addEventListener("click", () => this.run());
    byId("stop").addEventListener("click", () => this.stop());
    byId("save").addEventListener("click", () => this.save());
    byId("save").hidden = start.file === null;
    byId("point").addEventListener("change", () => this.quick());
    onThemeChange(() => this.result.time?.redraw());
    this.open(start.text, null);
  }

  /** Puts a text into the editor: that of the gallery's entry `id`, or null for the file's own. */
  open(text, id) {
    this.opened = id;
    const { file } = this.start;
    byId("file").textContent = id ?? file ?? "";
    byId("save").textContent = id === null ? "Save" : `Save as ${file}`;
    this.editor.text = text;
  }

  button(text, onclick) {
    return element("button", { type: "button", onclick }, text);
  }

  fill(gallery) {
    const options = (lesson) => gallery.filter((entry) => entry.lesson === lesson).map(({ id, title }) => element("option", { value: id }, lesson ? title : `${id}: ${title}`));
    const select = byId("gallery");
    select.append(
      element("option", { value: "" }, "Open …"),
      element("optgroup", { label: "Lessons" }, ...options(true)),
      element("optgroup", { label: "Experiments" }, ...options(false)),
    );
    select.addEventListener("change", async () => {
      const id = select.value;
      if (!id) return;
      select.value = "";
      this.open(await api.scenario(id), id);
    });
  }

  changed() {
    this.sliders();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.check(), PAUSE);
  }

  async check() {
    this.checking?.abort();
    this.checking = new AbortController();
    const text = this.editor.text;
    try {
      const draft = await api.check(text, this.checking.signal);
      this.editor.mark(draft.errors);
      document.body.classList.toggle("wrong", draft.errors.length > 0);
      const [first] = draft.errors;
      message(first ? `Line ${first.line}: ${first.message}` : "");
      if (first) return;
      this.draw(draft);
      await this.quick(text);
    } catch (error) {
      if (error.name !== "AbortError") message(error.message);
    }
  }

  draw({ network, points }) {
    byId("network").replaceChildren(drawing(network));
    const select = byId("point");
    const chosen = Math.min(Number(select.value || 0), points.length - 1);
    select.replaceChildren(...points.map((label, i) => element("option", { value: i }, label || "one point")));
    select.value = chosen;
    select.hidden = points.length < 2;
    this.result.title.textContent = network.title || network.id;
  }

  /** Theory and fluid, which answer at once. */
  quick(text = this.editor.text) {
    return this.stream(["theory", "fluid"], text);
  }

  run() {
    const engines = ["theory", "fluid", "packet", "live"].filter((engine) => byId(`engine-${engine}`).checked);
    return this.stream(engines, this.editor.text);
  }

  async stream(engines, text) {
    this.stop();
    const running = (this.running = new AbortController());
    byId("stop").disabled = false;
    this.result.run = undefined;
    this.result.tables.querySelectorAll(".failed").forEach((p) => p.remove());
    const request = { text, engines, point: Number(byId("point").value || 0) };
    const failures = [];
    try {
      await api.run(request, running.signal, (event) => {
        if (running.signal.aborted) return;
        if (event.event === "failed") failures.push(event.message);
        this.result.tell(event);
        if (event.event === "view") failures.forEach((text) => this.result.failed(text));
      });
    } catch (error) {
      if (error.name !== "AbortError") message(error.message);
    }
    if (this.running === running) byId("stop").disabled = true;
  }

  stop() {
    this.running?.abort();
    byId("stop").disabled = true;
    this.result.bar.hidden = true;
  }

  sliders() {
    const found = numbers(this.editor.text);
    const names = found.map(({ path, unit }) => `${path} ${unit}`).join("\n");
    // While a slider is held the others stay where they are.
    if (names === this.names) {
      this.found = found;
      found.forEach((number, i) => this.rows[i].show(number));
      return;
    }
    [this.names, this.found] = [names, found];
    this.rows = found.map((number, i) => this.slider(number, i));
    byId("sliders").replaceChildren(...this.rows.map((row) => row.node));
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
      if (value !== now.text) this.editor.replace(now.from, now.to, value);
    });
    show(number);
    return { show, node: element("label", {}, element("span", {}, number.path), input, output) };
  }

  /** Keeps a copy of the current result beside it. */
  keep() {
    if (!this.result.time) return;
    const kept = new Result(this.result.title.textContent, [
      this.button("Open", () => this.open(kept.text, kept.opened)),
      this.button("Export", () => this.export(kept)),
      this.button("Remove", () => {
        kept.node.remove();
        this.arrange();
      }),
    ]);
    Object.assign(kept, { text: this.editor.text, opened: this.opened, run: this.result.run });
    kept.show(this.result.last);
    kept.status.textContent = "kept";
    byId("results").append(kept.node);
    const all = byId("results").querySelectorAll(".result");
    if (all.length > MOST_KEPT + 1) all[1].remove();
    this.arrange();
  }

  arrange() {
    byId("results").style.setProperty("--columns", byId("results").children.length);
  }

  async export(result) {
    if (result.run === undefined) return message("There is nothing to export yet: wait for the run to end.");
    try {
      message(`Written: ${await api.exported(result.run)}`);
    } catch (error) {
      message(error.message);
    }
  }

  async save() {
    const { file } = this.start;
    if (file === null) return message("accord lab FILE opens a file that can be saved.");
    if (this.opened !== null && !confirm(`Replace what is in ${file} by ${this.opened}, as it is in the editor?`)) return;
    try {
      await api.save(this.editor.text);
      this.opened = null;
      byId("file").textContent = file;
      byId("save").textContent = "Save";
      message(`Saved: ${file}`);
    } catch (error) {
      message(error.message);
    }
  }
}

Promise.all([api.start(), api.schema(), api.gallery()]).then(
  (parts) => (window.laboratory = new Laboratory(...parts)),
  (error) => message(error.message),
);
