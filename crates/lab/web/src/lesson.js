// A lesson next to the editor: the question, the reader's guess, then the result next to the guess.
import * as api from "./api.js";
import { element } from "../../../report/web/src/dom.js";

/** Returns the nodes of a text: names stand between backticks. */
export const nodes = (text) => text.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));

export class LessonPanel {
  /**
   * `work` records guesses, for the student that `student()` returns. `hide(hidden)` hides and shows the results,
   * `open(id)` opens another lesson, and `say(text)` and `failed(error)` show a message.
   */
  constructor(root, { work, student, hide, open, say, failed }) {
    Object.assign(this, { root, work, student, hide, openOther: open, say, failed });
  }

  /** Shows a lesson. Null, and what is no lesson, hides the panel. `asks` is true if its results are hidden until the reader has guessed. */
  async open(id, asks) {
    this.id = id;
    this.asks = Boolean(asks) && this.guess() === undefined;
    this.hide(this.asks);
    const lesson = id && (await api.lesson(id));
    if (this.id !== id) return;
    this.lesson = lesson;
    this.root.hidden = !lesson;
    if (lesson) await this.show();
  }

  /** The guess of the student, or undefined. */
  guess() {
    return this.id ? this.work.of(this.student()).guesses[this.id] : undefined;
  }

  /** Shows the lesson that is open to another student. */
  async again() {
    if (!this.lesson) return;
    this.asks &&= this.guess() === undefined;
    this.hide(this.asks);
    await this.show();
  }

  /** Shows the results without a guess. */
  skip() {
    if (!this.asks) return;
    this.asks = false;
    this.hide(false);
    if (this.lesson) this.show().catch(this.failed);
  }

  async show() {
    const { lesson, id } = this;
    const { number, of, previous, next, question, about, guess } = lesson;
    const go = (text, to) => element("button", { type: "button", disabled: !to, onclick: () => this.openOther(to) }, text);
    this.after = element("div", { class: "after", role: "status" });
    this.form = this.asking(guess);
    this.root.replaceChildren(
      element("header", {}, element("span", {}, `Lesson ${number} of ${of}`), go("Previous", previous), go("Next", next)),
      element("p", { class: "question" }, ...nodes(question)),
      element("p", {}, ...nodes(about)),
      this.form,
      this.after,
    );
    const made = this.guess();
    if (made !== undefined) await this.judge(made, id);
    else if (!this.asks) this.explain();
  }

  /** Returns the form that asks for a guess. */
  asking({ ask, unit, choices }) {
    const field = choices.length
      ? element("div", { class: "choices" }, ...choices.map(({ text }, i) => element("label", {}, element("input", { type: "radio", name: "guess", value: i, required: true }), element("span", {}, ...nodes(text)))))
      : element("span", {}, element("input", { type: "number", name: "guess", step: "any", required: true, "aria-label": "Your guess" }), ` ${unit}`);
    const skip = element("button", { type: "button", class: "unguessed", onclick: () => this.skip() }, "Show without a guess");
    skip.hidden = !this.asks;
    const submit = (event) => {
      event.preventDefault();
      // The message about an earlier guess.
      this.say("");
      this.judge(Number(new FormData(this.form).get("guess")), this.id).catch(this.failed);
    };
    return element("form", { class: "guess", onsubmit: submit }, element("p", {}, ...nodes(ask)), field, element("span", { class: "buttons" }, element("button", { type: "submit" }, "Guess"), skip));
  }

  /** Judges a guess, and shows the result next to it. */
  async judge(guess, id) {
    const { form, after } = this;
    const waiting = setTimeout(() => (after.textContent = "The lesson runs …"), 300);
    try {
      const judged = await api.guess(id, guess);
      if (this.id !== id || this.form !== form) return;
      this.work.guess(this.student(), id, guess);
      this.asks = false;
      this.hide(false);
      this.explain(judged);
    } catch (error) {
      after.textContent = "";
      throw error;
    } finally {
      clearTimeout(waiting);
    }
  }

  /** Shows the reason, with the result next to the guess if there is one. */
  explain(judged) {
    const { why, look, tries } = this.lesson;
    const row = (name, value, kind) => element("tr", { class: kind }, element("th", { scope: "row" }, ...nodes(name)), element("td", {}, ...nodes(value)));
    const beside = judged && [
      element("table", {}, row("Your guess", judged.guess, "own"), ...judged.rows.map(([name, value]) => row(name, value, ""))),
      element("p", { class: `verdict ${judged.right ? "pass" : "fail"}` }, ...nodes(judged.message)),
    ];
    if (judged) this.form.querySelectorAll("span, div").forEach((part) => part.remove());
    else this.form.querySelector(".unguessed").hidden = true;
    const part = (title, text) => element("p", {}, element("b", {}, `${title}: `), ...nodes(text));
    this.after.replaceChildren(...(beside ?? []), element("p", {}, ...nodes(why)), part("Look", look), part("Try", tries));
  }
}
