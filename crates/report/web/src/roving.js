// Groups of controls that are one stop of the tab key: arrows move within.
import { element } from "./dom.js";

const MOVES = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 };

/** Makes the buttons in `node` one tab stop; call again after their number has changed. */
export function rove(node, role = "toolbar") {
  if (role) node.setAttribute("role", role);
  const all = () => [...node.querySelectorAll("button, input, select, [role=tab]")].filter((b) => !b.disabled);
  const only = (one) => all().forEach((b) => (b.tabIndex = b === one ? 0 : -1));
  const chosen = all().find((b) => b.getAttribute("aria-selected") === "true");
  only(chosen ?? all()[0]);
  if (node.roves) return;
  node.roves = true;
  node.addEventListener("focusin", (event) => all().includes(event.target) && only(event.target));
  node.addEventListener("keydown", (event) => {
    // A list of choices has its own use for up and down.
    if (event.target.matches("select") && event.key.match(/Up|Down/)) return;
    const buttons = all();
    const shown = buttons.filter((b) => b.offsetParent !== null);
    const at = shown.indexOf(event.target);
    const last = shown.length - 1;
    const next = { Home: 0, End: last }[event.key] ?? (event.key in MOVES ? (at + MOVES[event.key] + shown.length) % shown.length : -1);
    if (at < 0 || next < 0) return;
    shown[next].focus();
    event.preventDefault();
    event.stopPropagation();
  });
}

/** A row of buttons: [text, label, onclick] or [text, label, onclick, pressed]. */
export function toolbar(label, buttons) {
  const make = ([text, title, onclick, pressed]) =>
    element(
      "button",
      {
        type: "button",
        title,
        "aria-label": title,
        "aria-pressed": pressed == null ? null : String(pressed),
        onclick: (event) => {
          const button = event.currentTarget;
          if (pressed != null) {
            const now = button.getAttribute("aria-pressed") !== "true";
            button.setAttribute("aria-pressed", String(now));
            onclick(now);
          } else onclick();
        },
      },
      text,
    );
  const node = element("div", { class: "tools", "aria-label": label }, ...buttons.map(make));
  rove(node);
  return node;
}
