// Every panel of a trace matches the output of the program.

import assert from "node:assert/strict";
import * as content from "./panels/content.mjs";
import * as figures from "./panels/figures.mjs";
import { test } from "./viewer.mjs";

const CHECKS = { ...content, ...figures };

await test(async (viewer, { more }) => {
  const tabs = await viewer.tabs();
  assert.deepEqual(tabs, more.panels, "the panels that this format fills");
  for (const id of tabs) {
    const started = Date.now();
    await viewer.panel(id);
    await (CHECKS[id] ?? assert.fail(`nothing checks the panel ${id}`))(viewer);
    assert.deepEqual(viewer.complaints, [], id);
    if (process.env.TRACELOOM_TIMES) console.error(id, Date.now() - started);
  }
});
