// The laboratory: editor, network and sliders on one side, results on the other.
import * as api from "./api.js";
import { Axes } from "./axes.js";
import { Drafts, storage } from "./drafts.js";
import { element } from "../../../report/web/src/dom.js";
import { onThemeChange } from "../../../report/web/src/theme.js";
import { Editor } from "./editor.js";
import { ExercisePanel } from "./exercise.js";
import { hand } from "./hand.js";
import { LessonPanel } from "./lesson.js";
import { ENGINES, linkOf, stateOf } from "./link.js";
import { drawing } from "./network.js";
import { LARGEST_SERIES, isParquet, readMeasurements, seriesOf } from "./measured.js";
import { differences } from "./numbers.js";
import { Previews } from "./previews.js";
import { Result } from "./result.js";
import { MOST_LETTERS, Sliders } from "./sliders.js";
import { Work } from "./work.js";

/** The delay after a change until theory and fluid run, in milliseconds. A slider that moves has previews until it rests. */
const PAUSE = 80;
const REST = 300;
/** The delay after which a hidden page counts as painted, in milliseconds. */
const UNPAINTED = 200;
/** The maximum number of results kept for comparison. */
const MOST_KEPT = 3;
/** The maximum number of settings in the title of a result. */
const MOST_SETTINGS = 6;
/** The key of the gallery's entry that this tab shows. */
const OPEN = "accord-lab open";
/** The delay until the page says that a check takes long, in milliseconds. */
const LONG = 1000;
/** The largest file that may be dropped on the page, in bytes: the largest scenario. */
const LARGEST_FILE = 8 << 20;
/** The key of the file that this tab opened last. */
const FILE = "accord-lab file";

const byId = (id) => document.getElementById(id);
const message = (text) => (byId("message").textContent = text);
const failed = (error) => error.name !== "AbortError" && message(error.message);

/** Returns a file with its text as a place. Its mark says to the server which text this tab knows. */
const placeOf = ({ file, key, mark }, text) => ({ key: `file ${key}`, id: null, file: key, mark, name: file, base: text });

class Laboratory {
  constructor(start, { entries, first, text }) {
    document.body.classList.toggle("alone", api.alone);
    this.tab = storage("sessionStorage");
    this.drafts = new Drafts(storage("localStorage"));
    this.kept = true;
    this.runs = 0;
    this.editor = new Editor(byId("editor"), {
      schema: api.schema,
      changed: () => this.changed(),
      run: () => this.run(),
      save: () => this.save(),
    });
    this.sliders = new Sliders(byId("sliders"), (number, value) => this.slide(number, value));
    // Theory and a coarse fluid while a slider moves.
    this.previews = new Previews(() => this.stream(["theory", "fluid"], this.editor.text, true));
    this.axes = new Axes(() => this.results());
    const work = new Work(storage("localStorage"));
    this.exercise = new ExercisePanel(byId("exercise"), { storage: storage("localStorage"), work, changed: () => this.lesson.again(), say: message, failed });
    this.lesson = new LessonPanel(byId("lesson"), {
      work,
      student: () => this.exercise.student,
      hide: (hidden) => document.body.classList.toggle("guessing", hidden),
      open: (id) => this.mayLeave() && this.openEntry(id),
      say: message,
      failed,
    });
    this.result = new Result(this.axes, [
      this.button("Keep for comparison", () => this.keep()),
      this.button("Stability", () => this.note("Stability", api.stability)),
      this.button("Explain", () => this.note("Why packets differ from theory", api.explain)),
      this.button("Export", () => this.export(this.result)),
    ]);
    byId("results").append(this.result.node);
    this.others = [];
    this.entries = entries;
    this.fill(entries);
    this.showFile(start.file);
    const actions = { run: () => this.run(), stop: () => this.halt(), save: () => this.save(), "save-as": () => this.saveAs(), download: () => this.download(), link: () => this.link(), measured: () => this.forget(), original: () => this.original() };
    for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
    byId("point").addEventListener("change", () => this.run());
    onThemeChange(() => this.results().forEach((result) => result.time?.redraw()));
    addEventListener("beforeunload", (event) => this.kept || event.preventDefault());
    addEventListener("hashchange", () => this.openLink().catch(failed));
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => this.drop(event));
    this.first(start, first, text);
  }

  /** Opens the text that this tab showed last, else the file, else the first lesson. */
  async first({ file, text }, lesson, base) {
    let trouble = "";
    try {
      if (await this.openLink()) return;
    } catch (error) {
      trouble = error.message;
    }
    const last = this.tab?.getItem(OPEN);
    const known = this.entries.some(({ id }) => id === last);
    if (file && !known) this.openFile(file, text);
    else if (known && last !== lesson) await this.openEntry(last);
    else this.openText(lesson, base);
    this.said ||= trouble;
  }

  results() {
    return [this.result, ...this.others];
  }

  async openEntry(id) {
    try {
      this.openText(id, await api.scenario(id));
    } catch (error) {
      failed(error);
    }
  }

  openText(id, base) {
    this.open({ key: `entry ${id}`, id, file: undefined, name: id, base });
  }

  openFile(file, text) {
    this.showFile(file);
    this.open(placeOf(file, text));
  }

  /** Opens the state in the page's address. Returns false if there is none. */
  async openLink() {
    const { hash } = location;
    const state = await stateOf(hash);
    if (!state || !this.mayLeave()) return state !== null;
    const { name, text, engines, point, range, hidden } = state;
    const id = this.entries.some((entry) => entry.id === state.id) ? state.id : null;
    for (const engine of ENGINES) byId(`engine-${engine}`).checked = engines.includes(engine);
    this.point = point;
    this.result.look = { range, hidden };
    this.open({ key: `link ${hash}`, id, file: undefined, name, base: text });
    return true;
  }

  /** The ticked engines. */
  engines() {
    return ENGINES.filter((engine) => byId(`engine-${engine}`).checked && !(api.alone && engine === "live"));
  }

  /** Puts the page's state into its address, and the address into the clipboard. */
  async link() {
    try {
      const { id, name } = this.place;
      const state = { id, name, text: this.editor.text, engines: this.engines(), point: Number(byId("point").value || 0), ...this.result.lookNow() };
      const hash = await linkOf(state);
      // Another state in the address would open it: this one is open.
      history.replaceState(null, "", hash);
      const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
      message(copied ? "The address of this text is copied." : "The address of the page opens this text.");
    } catch (error) {
      failed(error);
    }
  }

  /** Opens a scenario file that was dropped on the page, or draws dropped measurements over the plots. */
  async drop(event) {
    const [item] = event.dataTransfer?.items ?? [];
    const directory = item?.webkitGetAsEntry?.();
    const [dropped] = event.dataTransfer?.files ?? [];
    if (!dropped) return;
    event.preventDefault();
    try {
      const file = directory?.isDirectory ? await seriesOf(directory) : dropped;
      if (isParquet(await file.slice(0, 4).arrayBuffer())) return await this.measure(directory?.isDirectory ? directory.name : file.name, file);
      if (file.size > LARGEST_FILE) throw new Error(`${file.name} is not a scenario: it has ${file.size} bytes, and ${LARGEST_FILE} are the most.`);
      const text = await file.text();
      if (text.includes("\u0000") || text.includes("\ufffd")) throw new Error(`${file.name} is not a scenario: it is not text.`);
      if (!this.mayLeave()) return;
      this.open({ key: `dropped ${file.name}`, id: null, file: undefined, name: file.name, base: text });
    } catch (error) {
      failed(error);
    }
  }

  /** Draws the measurements of a file over the plots. */
  async measure(name, file) {
    if (file.size > LARGEST_SERIES) throw new Error(`${name} is too large for the laboratory: its series have ${file.size} bytes, and ${LARGEST_SERIES} are the most.`);
    this.result.measured = await readMeasurements(name, await file.arrayBuffer());
    byId("measured").hidden = false;
    this.result.redraw();
    if (!this.result.time) return message(`${name} is drawn over the plots once there are some.`);
    message(this.result.drawsMeasurements() ? `${name} is drawn over the plots, as live.` : `${name} has no flow or link of this scenario. Rename its groups, or import it again with --group.`);
  }

  /** Removes the measurements. */
  forget() {
    this.result.measured = undefined;
    byId("measured").hidden = true;
    message("");
    this.result.redraw();
  }

  /**
   * Opens a place: { key, id, file, mark, name, base }. `id` is the gallery's, or null for a file, and
   * `base` is the text as the gallery or the file has it. `draft` is the text for the editor and the one
   * from which it was made.
   */
  open(place, draft = this.drafts.read(place.key)) {
    const another = this.place?.key !== place.key;
    this.place = { ...place, from: draft?.from ?? place.base };
    this.tab?.setItem(OPEN, place.id ?? "");
    if (place.file !== undefined) this.tab?.setItem(FILE, place.file);
    byId("save").hidden = place.file === undefined;
    this.opening = true;
    this.editor.text = draft?.text ?? place.base;
    if (another) this.editor.forget();
    this.opening = false;
    const stale = this.place.from !== place.base ? ` ${place.name} itself has changed since you made them.` : "";
    this.said = draft ? `Your changes to ${place.name} are back.${stale} Original shows it without them.` : "";
    const teaches = this.entries.some(({ id, lesson }) => lesson && id === place.id);
    document.body.classList.toggle("teaching", teaches);
    // The results of a text that somebody changed or sent are no riddle.
    const asks = teaches && place.key.startsWith("entry ") && this.editor.text === place.base;
    this.lesson.open(teaches ? place.id : null, asks).catch(failed);
    this.exercise.open(place.id, teaches).catch(failed);
    this.whole = true;
    // The texts of the gallery are right, so their runs need not wait for the check. Only the first point is known.
    if (place.key.startsWith("entry ") && this.editor.text === place.base) {
      this.whole = false;
      byId("point").replaceChildren();
      this.begun = this.begin(place.base);
    }
  }

  /** Runs a text that was opened in all ticked engines, after a preview, so that plots are there soon. */
  async begin(text) {
    // The view of a link may show what a preview does not have.
    if (this.result.look === undefined) {
      await this.stream(["theory", "fluid"], text, true);
      const { running } = this;
      // The engines' answers would be drawn before the browser paints the preview. A hidden page paints nothing.
      await new Promise((painted) => {
        requestAnimationFrame(() => setTimeout(painted));
        setTimeout(painted, UNPAINTED);
      });
      // Another run has begun, or Stop has ended this one.
      if (this.running !== running || running.signal.aborted) return;
    }
    return this.all(text);
  }

  /** Returns true if the editor's text may be replaced. */
  mayLeave() {
    return this.kept || confirm(`This browser keeps no texts. Lose the changes to ${this.place.name}?`);
  }

  /** Shows the place's text without changes. */
  original() {
    const { name, base } = this.place;
    if (!confirm(`Lose the changes to ${name}?`)) return;
    this.place.from = base;
    this.editor.text = base;
  }

  showFile(file) {
    this.file = file;
    byId("gallery").querySelector("[value=file]")?.parentNode.remove();
    if (!file) return;
    const own = element("optgroup", { label: "File" }, element("option", { value: "file" }, file.file));
    byId("gallery").firstChild.after(own);
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
      select.value = "";
      if (!id || !this.mayLeave()) return;
      if (id !== "file") return this.openEntry(id);
      try {
        const { file, text } = await api.start(this.file.key);
        this.openFile(file, text);
      } catch (error) {
        failed(error);
      }
    });
  }

  /** Keeps the editor's text in the browser. */
  keepText() {
    const { key, name, base, from } = this.place;
    const { text } = this.editor;
    this.kept = this.drafts.write(key, text, base, from);
    byId("file").textContent = text === base ? name : `${name}, changed`;
    byId("original").hidden = text === base;
  }

  changed() {
    this.begun = undefined;
    // A message about a mistake stays until the mistake is gone.
    if (!document.body.classList.contains("wrong")) message("");
    this.result.run = undefined;
    this.keepText();
    if (this.editor.text !== this.place.base) this.lesson.skip();
    this.sliders.show(this.editor.text);
    clearTimeout(this.waiting);
    // A text that was opened is whole, so its check need not wait.
    this.waiting = setTimeout(() => this.check(), this.opening ? 0 : this.sliding ? REST : PAUSE);
  }

  async check() {
    this.checking?.abort();
    this.checking = new AbortController();
    const text = this.editor.text;
    const slow = setTimeout(() => message("Checking …"), LONG);
    try {
      const draft = await api.check(text, this.place.file, this.checking.signal).finally(() => clearTimeout(slow));
      if (byId("message").textContent === "Checking …") message("");
      this.editor.mark(draft.errors);
      const mended = document.body.classList.contains("wrong");
      document.body.classList.toggle("wrong", draft.errors.length > 0);
      const [first] = draft.errors;
      if (first) return message(`Line ${first.line}: ${first.message}`);
      if (mended || this.said) message(this.said);
      this.said = "";
      this.draw(draft);
      const { whole, begun } = this;
      [this.whole, this.begun] = [false, undefined];
      await (begun ?? (whole ? this.all(text) : this.quick(text)));
    } catch (error) {
      failed(error);
    }
  }

  draw({ network, points }) {
    byId("network").replaceChildren(drawing(network));
    const select = byId("point");
    const chosen = Math.min(this.point ?? Number(select.value || 0), points.length - 1);
    this.point = undefined;
    select.replaceChildren(...points.map((label, i) => element("option", { value: i }, label || "one point")));
    select.value = chosen;
    select.hidden = points.length < 2;
    this.result.title.textContent = network.title || network.id;
    this.result.point = select.hidden ? "" : select.selectedOptions[0]?.text;
  }

  /** Runs theory and the fluid engine, which answer at once. */
  quick(text = this.editor.text) {
    return this.stream(["theory", "fluid"], text);
  }

  /** Runs all ticked engines. A check of an earlier change would end the run, so this one replaces it. */
  run() {
    this.lesson.skip();
    clearTimeout(this.waiting);
    this.result.run = undefined;
    [this.whole, this.begun] = [true, undefined];
    return this.check();
  }

  all(text) {
    const engines = this.engines();
    if (engines.length > 0) return this.stream(engines, text);
    message("No engine is ticked: theory and the fluid engine run.");
    return this.quick(text);
  }

  async stream(engines, text, preview = false) {
    this.stop();
    const running = (this.running = new AbortController());
    byId("stop").disabled = false;
    const point = byId("point");
    Object.assign(this.result, { run: undefined, text, place: this.place, point: point.hidden ? "" : point.selectedOptions[0]?.text });
    this.name();
    this.result.tables.querySelectorAll(".failed").forEach((p) => p.remove());
    this.result.note();
    const request = { text, file: this.place.file, engines, preview, point: Number(point.value || 0) };
    const failures = [];
    try {
      const done = await api.run(request, running.signal, (event) => {
        if (running.signal.aborted) return;
        if (event.event === "failed") failures.push(event.message);
        // A preview has no packets, so it leaves the plots of a scenario of which only packets have figures.
        if (preview && event.event === "view" && JSON.parse(event.plots).points[0].panels.length === 0) return;
        this.result.take(event, preview);
        if (event.event === "view") failures.forEach((text) => this.result.failed(text));
      });
      if (!running.signal.aborted) this.result.done(done);
    } catch (error) {
      // The check of the text reports mistakes.
      if (!preview) failed(error);
    }
    if (this.running !== running) return;
    byId("stop").disabled = true;
    this.result.bar.hidden = true;
  }

  /** Asks for a text about the scenario, and shows it with the result. */
  async note(title, asked) {
    this.stop();
    const running = (this.running = new AbortController());
    byId("stop").disabled = false;
    const request = { text: this.editor.text, file: this.place.file, point: Number(byId("point").value || 0) };
    try {
      const text = await asked(request, running.signal, (event) => this.result.take(event));
      this.result.note(title, text);
    } catch (error) {
      failed(error);
    }
    if (this.running === running) this.stop();
  }

  /** Stops what runs, and the preview that waits for it. */
  stop() {
    this.previews.drop();
    this.running?.abort();
    byId("stop").disabled = true;
    this.result.bar.hidden = true;
  }

  /** Stops what runs at the reader's wish. */
  halt() {
    this.stop();
    this.result.status.textContent = "stopped";
  }

  /** Puts the value of a slider into the text. */
  slide({ from, to }, value) {
    this.sliding = true;
    this.editor.replace(from, to, value);
    this.sliding = false;
    this.previews.ask();
  }

  /** Keeps a copy of the current result for comparison. */
  keep() {
    if (!this.result.time) return;
    const kept = new Result(this.axes, [
      this.button("Open", () => this.reopen(kept)),
      this.button("Export", () => this.export(kept)),
      this.button("Remove", () => this.remove(kept)),
    ]);
    const { text, place, point, run } = this.result;
    Object.assign(kept, { text, place, point, run, number: ++this.runs });
    kept.title.textContent = this.result.title.textContent;
    kept.status.textContent = "kept";
    if (this.others.length === MOST_KEPT) this.remove(this.others[0]);
    this.others.push(kept);
    byId("results").append(kept.node);
    this.arrange();
    kept.show(this.result.last);
  }

  remove(kept) {
    this.others.splice(this.others.indexOf(kept), 1);
    kept.node.remove();
    this.arrange();
    this.axes.fit();
  }

  /** Puts the text of a kept result into the editor. */
  reopen(kept) {
    const there = this.place.key === kept.place.key ? this.editor.text : this.drafts.read(kept.place.key)?.text;
    const lost = there !== undefined && ![kept.text, kept.place.base].includes(there);
    if (lost && !confirm(`Replace the changes to ${kept.place.name} by the text of this result?`)) return;
    if (!this.mayLeave()) return;
    const place = this.place.key === kept.place.key ? this.place : kept.place;
    this.open(place, { text: kept.text, from: place.from });
    this.said = "";
  }

  arrange() {
    byId("results").style.setProperty("--columns", this.results().length);
    this.name();
  }

  /** Adds to the title of each result the settings in which it differs from the others. */
  name() {
    const all = this.results();
    const found = differences(all.map(({ text = "" }) => (text.length > MOST_LETTERS ? "" : text)));
    const points = new Set(all.map(({ point }) => point)).size > 1;
    all.forEach((result, i) => {
      const more = found[i].length - MOST_SETTINGS;
      const settings = [...found[i].slice(0, MOST_SETTINGS), ...(more > 0 ? [`${more} more`] : []), ...(points && result.point ? [result.point] : [])];
      const plain = result.number ? `kept ${result.number}` : "now";
      result.settings.textContent = all.length > 1 ? settings.join(", ") || plain : "";
    });
  }

  async export(result) {
    if (result.run === undefined) return message("This text has no result yet: wait for the run to end.");
    try {
      if (!api.alone) return message(`Written: ${await api.exported(result.run)}`);
      const { page } = await api.page(result.run);
      const { id, name } = result.place;
      hand(`${id ?? name.split(/[\\/]/).pop().replace(/\.toml$/, "")}.html`, "text/html", page);
    } catch (error) {
      failed(error);
    }
  }

  /** Saves the text in its file. A text of the gallery needs a name. */
  async save() {
    if (api.alone) return this.download();
    if (this.place.file === undefined) return this.saveAs();
    await this.write({ file: this.place.file, base: this.place.mark });
  }

  async saveAs() {
    const given = this.place.id === null ? this.place.name.split(/[\\/]/).pop() : `${this.place.id}.toml`;
    const name = prompt("Save in the folder of the laboratory as:", given);
    if (name) await this.write({ name });
  }

  /** Writes the text to a place as `api.save` has it. */
  async write(to) {
    const { text } = this.editor;
    const { from, base } = this.place;
    if (!to.name && from !== base && !confirm(`${this.place.name} has changed since you made these changes. Replace it?`)) return;
    try {
      let file;
      try {
        file = await api.save(text, to, false);
      } catch (error) {
        if (error.status !== 409 || !confirm(`${error.message}. Replace it?`)) throw error;
        file = await api.save(text, to, true);
      }
      this.drafts.write(this.place.key, base, base);
      this.showFile(file);
      this.place = { ...placeOf(file, text), from: text };
      this.tab?.setItem(OPEN, "");
      this.tab?.setItem(FILE, file.key);
      byId("save").hidden = false;
      document.body.classList.remove("teaching");
      this.lesson.open(null).catch(failed);
      this.exercise.open(null).catch(failed);
      this.keepText();
      message(`Saved: ${file.file}`);
    } catch (error) {
      failed(error);
    }
  }

  /** Downloads the text. */
  download() {
    const { id, name } = this.place;
    hand(id === null ? name.split(/[\\/]/).pop() : `${id}.toml`, "application/toml", this.editor.text);
  }
}

Promise.all([api.start(storage("sessionStorage")?.getItem(FILE)), api.gallery()]).then(
  (parts) => (window.laboratory = new Laboratory(...parts)),
  (error) => message(error.message),
);
