// The order of previews, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Previews } from "../src/previews.js";

/** Previews that end when `end` is called, and the number of those that began. */
function held() {
  const state = { begun: 0, end: undefined };
  state.previews = new Previews(() => {
    state.begun += 1;
    return new Promise((resolve) => (state.end = resolve));
  });
  return state;
}

test("of the texts during a preview the last one follows", async () => {
  const state = held();
  const done = state.previews.ask();
  state.previews.ask();
  state.previews.ask();
  assert.equal(state.begun, 1);
  state.end();
  await Promise.resolve();
  await Promise.resolve();
  assert.equal(state.begun, 2);
  state.end();
  await done;
  assert.equal(state.begun, 2);
});

test("no preview follows an exact run, until the next move", async () => {
  const state = held();
  const done = state.previews.ask();
  state.previews.ask();
  // The slider rests: an exact run begins, and ends the first preview.
  state.previews.drop();
  state.end();
  await done;
  assert.equal(state.begun, 1);
  state.previews.ask();
  assert.equal(state.begun, 2);
});
