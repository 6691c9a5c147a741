// Starts the engines in the page before its other script is read. A page without a module asks its server.
import { begin } from "./engines.js";

const packed = document.getElementById("module").textContent;
globalThis.accordEngines = packed === "" ? null : begin(packed);
