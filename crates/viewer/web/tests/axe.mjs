// Runs axe-core on a page.

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const axe = createRequire(path.join(process.env.TRACELOOM_MODULES, "package.json")).resolve("axe-core/axe.min.js");

/// Asserts that axe-core finds no problems in what the page shows now.
export async function assertAccessible(viewer, what) {
  assert.deepEqual(await violations(viewer), [], what);
}

/// Problems found by axe-core: rule and element.
async function violations({ page }) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(fs.readFileSync(axe, "utf8"));
  const found = await page.evaluate(async () => {
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];
    const rules = { "label-content-name-mismatch": { enabled: true } };
    return (await window.axe.run(document, { runOnly: tags, rules })).violations;
  });
  return found.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(" ")} ${html}`));
}
