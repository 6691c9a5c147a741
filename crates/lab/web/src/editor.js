// The editor of the scenario, with its errors and completions.
import { autocompletion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { completions } from "./complete.js";

/** A colour of lines for letters, which need more contrast. */
const letters = (line) => `color-mix(in srgb, var(--line-${line}) 70%, var(--text))`;

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.string, tags.special(tags.string)], color: letters(2) },
  { tag: [tags.number, tags.bool, tags.atom], color: letters(1) },
  { tag: [tags.propertyName, tags.variableName], color: letters(0) },
  { tag: [tags.heading, tags.bracket], color: "var(--text)", fontWeight: "600" },
]);

export class Editor {
  constructor(parent, { schema, changed, run, save }) {
    // Only completions need the schema: the first one asks for it.
    let asked;
    const source = async (context) => {
      if (!context.explicit && !context.matchBefore(/[A-Za-z0-9_"-]$/)) return null;
      return completions(await (asked ??= schema()), context.state.doc.toString(), context.pos);
    };
    const keys = [
      { key: "Mod-Enter", run: () => (run(), true) },
      { key: "Mod-s", run: () => (save(), true), preventDefault: true },
    ];
    this.past = new Compartment();
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          keymap.of([...keys, ...defaultKeymap, ...historyKeymap, indentWithTab]),
          lineNumbers(),
          this.past.of(history()),
          drawSelection(),
          highlightActiveLine(),
          lintGutter(),
          StreamLanguage.define(toml),
          syntaxHighlighting(colours),
          autocompletion({ override: [source] }),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": "Scenario", "aria-description": "Escape and then Tab leave the editor." }),
          EditorView.updateListener.of((update) => update.docChanged && changed()),
        ],
      }),
    });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  set text(text) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text }, selection: { anchor: 0 } });
    this.view.scrollDOM.scrollTop = 0;
  }

  /** Forgets all changes, so that Undo does not lead back to the text of another place. */
  forget() {
    this.view.dispatch({ effects: this.past.reconfigure([]) });
    this.view.dispatch({ effects: this.past.reconfigure(history()) });
  }

  /** Scrolls to a position, which is at the top then. */
  show(position) {
    this.view.dispatch({ effects: EditorView.scrollIntoView(position, { y: "start" }) });
  }

  replace(from, to, insert) {
    this.view.dispatch({ changes: { from, to, insert } });
  }

  mark(errors) {
    const end = this.view.state.doc.length;
    const marks = errors.map(({ message, hint, from, to }) => ({
      from: Math.min(from, end),
      to: Math.min(Math.max(to, from), end),
      severity: "error",
      message: hint ? `${message}\n${hint}` : message,
    }));
    this.view.dispatch(setDiagnostics(this.view.state, marks));
  }
}
