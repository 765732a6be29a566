// Pictures of each format for the README.
//
// `more.picture` is {"name", "theme", "panel"}, with the keys to "zoom" by where that shows more; `more.folder` is where
// it goes.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test, until, Viewer } from "./viewer.mjs";

/// Max size of an image, so that the README loads fast.
const MAX_BYTES = 200_000;

await test(async (_, asked, browser) => {
  const { picture, folder } = asked.more;
  const other = await Viewer.open(browser, asked.url, asked, { colorScheme: picture.theme });
  await other.focus();
  await other.press(...(picture.zoom ?? ""));
  await other.panel(picture.panel);
  await until(
    "the panel is filled",
    () => other.page.locator("#panel").innerText(),
    (text) => text.length > 40,
  );
  await other.page.mouse.move(2, 2);
  await other.isDrawn();
  // After two frames, everything is drawn.
  await other.page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
  const bytes = await other.page.screenshot();
  assert.ok(bytes.length <= MAX_BYTES, `${picture.name} has ${bytes.length} bytes`);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, `${picture.name}.png`), bytes);
  assert.deepEqual(other.complaints, []);
});
