// Accessibility: axe-core finds no problems in any panel, in both themes.

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { main } from "../../../testkit/browser/browser.mjs";
import { Viewer } from "./viewer.mjs";

const axe = createRequire(path.join(process.env.TRACELOOM_MODULES, "package.json")).resolve("axe-core/axe.min.js");

/// Problems found by axe-core: rule and element.
async function violations(viewer) {
  const found = await viewer.page.evaluate(async () => {
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];
    const rules = { "label-content-name-mismatch": { enabled: true } };
    return (await window.axe.run(document, { runOnly: tags, rules })).violations;
  });
  return found.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(" ")} ${html}`));
}

await main(async (browser, asked) => {
  for (const colorScheme of ["light", "dark"]) {
    const viewer = await Viewer.open(browser, asked.url, asked, { colorScheme });
    await viewer.page.evaluate(fs.readFileSync(axe, "utf8"));
    // Only one of several traces can be moved; there is a button for each visible heading.
    const moves = await viewer.page.getByRole("button", { name: /^± 0: move this trace/ }).count();
    assert.equal(moves > 0, asked.files.length > 1, `${moves} buttons move traces`);
    for (const id of await viewer.tabs()) {
      await viewer.panel(id);
      const rows = viewer.page.locator("#panel tbody tr[data-at], #panel [data-line]");
      if ((await rows.count()) > 0) await rows.first().click();
      assert.deepEqual(await violations(viewer), [], `${id}, ${colorScheme}`);
      if (id !== "sql") continue;
      // The first example can also be a chart and a track.
      await viewer.choose("chart");
      await viewer.page.locator("#panel .bars, #panel figure.line").waitFor();
      assert.deepEqual(await violations(viewer), [], `chart, ${colorScheme}`);
    }
    assert.deepEqual(viewer.complaints, []);
    await viewer.context.close();
  }
});
