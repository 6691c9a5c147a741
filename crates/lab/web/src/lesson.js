// The text of a lesson next to the editor: the comment at the top of the scenario.
import { element } from "../../../report/web/src/dom.js";

/** Returns the paragraphs of the comment at the top of a text, or [] if it does not begin with a question. */
export function paragraphs(text) {
  const lines = text.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("#"));
  const comment = lines.slice(0, end < 0 ? lines.length : end).map((line) => line.slice(1).trim());
  if (!comment[0]?.startsWith("Question:")) return [];
  const found = [[]];
  for (const line of comment) {
    if (line === "" || /^(Look|Try):/.test(line)) found.push([]);
    if (line !== "") found.at(-1).push(line);
  }
  return found.map((lines) => lines.join(" ")).filter((one) => one !== "");
}

/** Returns the place in a text at which the comment of a lesson ends, or 0. */
export const afterComment = (text) => (paragraphs(text).length === 0 ? 0 : text.search(/^[^#]/m));

/** Returns the nodes of a paragraph: names stand between backticks. */
const nodes = (text) => text.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));

/**
 * Shows the text of a lesson in a panel, and hides the panel if there is none. What to look for is folded: readers guess
 * first.
 */
export function show(panel, text) {
  const found = paragraphs(text);
  const same = JSON.stringify(found) === panel.dataset.shown;
  if (same) return;
  panel.dataset.shown = JSON.stringify(found);
  panel.hidden = found.length === 0;
  const parts = found.map((one) => {
    const [, word, rest] = /^(Question|Look|Try): (.*)$/.exec(one) ?? [];
    if (word === "Question") return element("p", { class: "question" }, ...nodes(rest[0].toUpperCase() + rest.slice(1)));
    if (word === "Look") return element("details", {}, element("summary", {}, "Guess first, then look"), element("p", {}, ...nodes(rest)));
    return element("p", {}, ...(word ? [element("b", {}, `${word}: `)] : []), ...nodes(rest ?? one));
  });
  panel.replaceChildren(...parts);
}
