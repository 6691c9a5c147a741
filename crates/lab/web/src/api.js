// Requests of the page: to the engines in it if it has them, else to its server.
import { ask as askServer, request } from "./server.js";

/** The engines in the page, which start.js has started, or null. */
const engines = globalThis.accordEngines;

/** True if the page is the laboratory in one file: it has no server, and with it no files and no live runs. */
export const alone = engines !== null;

const ask = (...question) => (alone ? engines.others.ask(...question) : askServer(...question));
const askRuns = (...question) => (alone ? engines.runs.ask(...question) : askServer(...question));

const query = (values) => new URLSearchParams(values).toString();

/** Returns the file with this key, or else the one that was opened last. */
export const start = async (file) => (alone ? { file: null, text: "" } : (await request(`/api/start?${query(file ? { file } : {})}`)).json());
/** Returns the lessons and experiments, which the laboratory in one file has in its page. */
export const gallery = async () => (alone ? JSON.parse(document.getElementById("entries").textContent) : ask({ ask: "gallery" }));
export const schema = () => ask({ ask: "schema" });
export const scenario = (id) => ask({ ask: "scenario", id });
export const check = (text, file, signal) => ask({ ask: "check", text, file }, signal);
/** Returns the margins of the equilibria, as text. */
export const stability = (body, signal) => askRuns({ ask: "stability", ...body }, signal);
/** Returns the reasons why packets differ from theory, as text. It takes runs, which `report` hears of. */
export const explain = (body, signal, report) => askRuns({ ask: "explain", ...body }, signal, report);
export const exercise = (id, seed) => ask({ ask: "exercise", id, seed });
export const grade = (id, seed, answer) => ask({ ask: "grade", id, seed, answer });
/** Returns the texts of a lesson, or null if the entry is none. */
export const lesson = (id) => ask({ ask: "lesson", id });
/** Returns the result next to a guess: { right, guess, rows, message }. It takes a run. */
export const guess = (id, guess) => ask({ ask: "guess", id, guess });
/** Returns the line that a student hands in. */
export const handIn = (work) => ask({ ask: "hand_in", work });
/**
 * Saves a text. `to` is the name of a new file, or the key of a file with the mark of the text that this tab knows
 * of it. A refusal with status 409 asks for `replace`.
 */
export const save = async (text, to, replace) => (await request("/api/save", { text, ...to, replace })).json();
/** Writes a result as a run directory, and returns its path. */
export const exported = async (run) => (await (await request("/api/export", { run })).json()).directory;
/** Returns the page of a result as { id, page }. */
export const page = (run) => askRuns({ ask: "page", run });
/** Runs a scenario and calls `report` with each event, until the end or the signal. Returns { run, seconds, digests }. */
export const run = (body, signal, report) => askRuns({ ask: "run", ...body }, signal, report);
