// Files that the page hands to the browser.
import { element } from "../../../report/web/src/dom.js";

/** Hands a text to the browser as a file. */
export function hand(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
