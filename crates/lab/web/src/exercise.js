// The exercise of a lesson, which the engines grade, and the line that a student hands in.
import * as api from "./api.js";
import { element } from "../../../report/web/src/dom.js";
import { hand } from "./hand.js";
import { nodes } from "./lesson.js";
import { MOST_ATTEMPTS } from "./work.js";

const NAME = "accord-lab student";

export class ExercisePanel {
  /** `work` records attempts, `changed()` hears of another student, `say(text)` and `failed(error)` show a message. */
  constructor(root, { storage, work, changed, say, failed }) {
    Object.assign(this, { root, storage, work, changed, say, failed });
    this.question = element("p");
    this.seed = element("input", { type: "text", size: 12, maxlength: 60, autocomplete: "off", onchange: () => this.named().catch(failed) });
    this.answer = element("input", { type: "number", step: "any", required: true, "aria-label": "Answer" });
    this.unit = element("span");
    this.verdict = element("p", { class: "verdict", role: "status" });
    this.record = element("p", { class: "record" });
    const form = element("form", { onsubmit: (event) => (event.preventDefault(), this.grade()) }, this.answer, this.unit, element("button", { type: "submit" }, "Check"));
    this.task = element("details", {}, element("summary", {}, "Exercise"), this.question, form, this.verdict, this.record);
    const handing = element("button", { type: "button", title: "Saves a file with your guesses and attempts for your teacher", onclick: () => this.handIn().catch(failed) }, "Hand in");
    root.append(this.task, element("div", { class: "student" }, element("label", {}, "Your name ", this.seed), handing));
    this.seed.value = this.kept() ?? "";
  }

  /** The name of the student, which draws the numbers. */
  get student() {
    return this.seed.value.trim();
  }

  kept() {
    try {
      return this.storage?.getItem(NAME);
    } catch {
      return null;
    }
  }

  async named() {
    try {
      this.storage?.setItem(NAME, this.seed.value);
    } catch {
      // The name is asked again next time.
    }
    this.work.adopt(this.student);
    await Promise.all([this.open(this.lesson, this.teaches), this.changed()]);
  }

  /** Shows the exercise of a lesson. A lesson without one has the name and Hand in only; null hides the panel. */
  async open(lesson, teaches) {
    Object.assign(this, { lesson, teaches });
    this.root.hidden = !teaches;
    const { student } = this;
    const task = lesson && (await api.exercise(lesson, student));
    if (this.lesson !== lesson || this.student !== student) return;
    this.task.hidden = !task;
    if (!task) return;
    this.question.replaceChildren(...nodes(task.question));
    this.unit.textContent = task.unit;
    this.answer.value = "";
    this.show(null);
  }

  async grade() {
    const { lesson, student } = this;
    const answer = Number(this.answer.value);
    // The message about an earlier answer.
    this.say("");
    try {
      const grade = await api.grade(lesson, student, answer);
      this.work.attempt(student, lesson, answer, grade.right);
      if (this.lesson === lesson && this.student === student) this.show(grade);
    } catch (error) {
      this.failed(error);
    }
  }

  show(grade) {
    this.verdict.replaceChildren(...nodes(grade?.message ?? ""));
    this.verdict.classList.toggle("pass", grade?.right === true);
    this.verdict.classList.toggle("fail", grade?.right === false);
    const all = this.work.of(this.student).attempts[this.lesson] ?? [];
    const right = all.findIndex(([, right]) => right) + 1;
    const most = all.length === MOST_ATTEMPTS ? ` More are not recorded.` : "";
    const answers = all.slice(-8).map(([answer]) => answer);
    const list = `${all.length > answers.length ? "…, " : ""}${answers.join(", ")}`;
    this.record.textContent = all.length === 0 ? "" : `Recorded for ${this.student || "no name"}: ${list}. ${right ? `Attempt ${right} was right.` : "None was right."}${most}`;
  }

  /** Saves the student's line as a file. */
  async handIn() {
    const { student } = this;
    if (student === "") {
      this.seed.focus();
      return this.say("Enter your name before you hand in.");
    }
    const work = this.work.handed(student);
    const counted = [Object.keys(work.attempts).length, Object.keys(work.guesses).length];
    if (counted.every((n) => n === 0)) return this.say(`There is nothing of ${student} to hand in yet: guess, or answer an exercise.`);
    const line = await api.handIn(work);
    const name = student.replace(/[^\p{L}\p{N}_-]+/gu, "-");
    hand(`accord-lab-${name}.txt`, "text/plain", `Work of ${student} in the laboratory of Accord. Exercises: ${counted[0]}. Guesses: ${counted[1]}.\n${line}\n`);
    this.say(`Saved as a file: the work of ${student}. Give it to your teacher as it is.`);
  }
}
