// The page without a server, from a static host and from a file: every panel matches the output of the program.
//
// `more.folder` is what `cargo xtask page` built, `more.report` an interactive report on the same trace, and `more.panels`
// are the panels that it fills; pictures go to `more.pictures` if that is given.

import assert from "node:assert/strict";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { main, serve } from "../../../testkit/browser/browser.mjs";
import * as content from "./panels/content.mjs";
import * as figures from "./panels/figures.mjs";
import { Viewer } from "./viewer.mjs";

const CHECKS = { ...content, ...figures, sql };

/// The panel explains how to use SQL.
async function sql({ page }) {
  await page.locator("#panel").getByText("This page has no SQL engine").waitFor();
}

async function open(browser, url, asked, options = {}) {
  const viewer = await Viewer.open(browser, url, asked, { isEmpty: true, ...options });
  const input = viewer.page.locator("#open + input");
  await input.waitFor({ state: "attached" });
  if (!url.includes("report")) await input.setInputFiles(asked.files);
  await viewer.isDrawn();
  return viewer;
}

await main(async (browser, asked) => {
  const { folder, report, panels, pictures } = asked.more;
  const file = (name) => pathToFileURL(name).href;
  const places = [`${await serve(folder)}/`, file(path.join(folder, "index.html")), file(report)];
  for (const [number, url] of places.entries()) {
    const viewer = await open(browser, url, asked);
    const tabs = await viewer.tabs();
    assert.deepEqual(tabs, panels, url);
    // A report is the same page with an embedded trace.
    for (const id of number < 2 ? tabs : tabs.slice(0, 3)) {
      await viewer.panel(id);
      await (CHECKS[id] ?? assert.fail(`nothing checks the panel ${id}`))(viewer);
      assert.deepEqual(viewer.complaints, [], `${id} at ${url}`);
    }
    await viewer.context.close();
  }
  for (const colorScheme of pictures ? ["light", "dark"] : []) {
    const viewer = await open(browser, places[1], asked, { colorScheme });
    await viewer.page.screenshot({ path: path.join(pictures, `alone-${colorScheme}.png`) });
    await viewer.panel("sql");
    await viewer.page.screenshot({ path: path.join(pictures, `alone-sql-${colorScheme}.png`) });
  }
});
