// The exercise of a lesson, which the server grades.
import * as api from "./api.js";
import { element } from "../../../report/web/src/dom.js";

const NAME = "accord-lab student";

export class ExercisePanel {
  /** `failed(error)` shows an error. */
  constructor(root, storage, failed) {
    Object.assign(this, { root, storage, failed });
    this.question = element("p");
    this.seed = element("input", { type: "text", size: 12, maxlength: 60, autocomplete: "off", onchange: () => this.named() });
    this.answer = element("input", { type: "number", step: "any", required: true, "aria-label": "Answer" });
    this.unit = element("span");
    this.verdict = element("p", { class: "verdict", role: "status" });
    const form = element("form", { onsubmit: (event) => (event.preventDefault(), this.grade()) }, this.answer, this.unit, element("button", { type: "submit" }, "Check"));
    root.append(element("summary", {}, "Exercise"), element("label", {}, "Your name, which draws the numbers ", this.seed), this.question, form, this.verdict);
    this.seed.value = this.kept() ?? "";
  }

  kept() {
    try {
      return this.storage?.getItem(NAME);
    } catch {
      return null;
    }
  }

  named() {
    try {
      this.storage?.setItem(NAME, this.seed.value);
    } catch {
      // The name is asked again next time.
    }
    return this.open(this.lesson);
  }

  /** Shows the exercise of a lesson. A lesson without one, or null, hides the panel. */
  async open(lesson) {
    this.lesson = lesson;
    const seed = this.seed.value;
    const task = lesson && (await api.exercise(lesson, seed));
    if (this.lesson !== lesson || this.seed.value !== seed) return;
    this.root.hidden = !task;
    if (!task) return;
    // Names stand between backticks.
    this.question.replaceChildren(...task.question.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part)));
    this.unit.textContent = task.unit;
    this.answer.value = "";
    this.show(null);
  }

  async grade() {
    const { lesson } = this;
    const seed = this.seed.value;
    try {
      const grade = await api.grade(lesson, seed, Number(this.answer.value));
      if (this.lesson === lesson && this.seed.value === seed) this.show(grade);
    } catch (error) {
      this.failed(error);
    }
  }

  show(grade) {
    this.verdict.textContent = grade?.message ?? "";
    this.verdict.classList.toggle("pass", grade?.right === true);
    this.verdict.classList.toggle("fail", grade?.right === false);
  }
}
