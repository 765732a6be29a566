// Unusual traces and windows: values that are texts, no times, very little space.

import assert from "node:assert/strict";
import { test, until, Viewer } from "./viewer.mjs";

/// Texts are labels from the time when they were set, and the card shows them in full.
async function texts(viewer) {
  const { page } = viewer;
  const labels = page.locator(".label.text");
  const scroll = page.locator("#picture");
  await scroll.focus();
  await until(
    "there are texts",
    async () => {
      if ((await labels.count()) === 0) await viewer.press("ArrowDown");
      return labels.count();
    },
    (count) => count > 0,
  );
  for (const [name, text] of [
    ["text literal", "literal text"],
    ["empty text", '""'],
    ["unicode text", "привет 世界 🚀"],
  ]) {
    const label = labels.filter({ hasText: new RegExp(`^${name}$`) });
    await until(
      `${name} is in sight`,
      async () => {
        const [box, room] = [
          await label.boundingBox().catch(() => null),
          await page.locator("#timeline").boundingBox(),
        ];
        const isSeen = box && box.y + box.height < room.y + room.height;
        if (!isSeen) await viewer.press("ArrowDown");
        return isSeen;
      },
      Boolean,
    );
    const [box, picture] = [await label.boundingBox(), await page.locator("#picture").boundingBox()];
    await page.mouse.move(picture.x + picture.width - 40, box.y + box.height / 2);
    await page.locator("#hover").filter({ hasText: name }).filter({ hasText: text }).waitFor();
    assert.equal(await page.locator("#picture").getAttribute("data-under"), "text");
    // Before it was set, it has no value.
    await page.mouse.move(picture.x + 2, box.y + box.height / 2);
    await page.locator("#hover").waitFor({ state: "hidden" });
    // Something is drawn there, and nothing before.
    const colors = await page.locator("#picture").evaluate(
      (canvas, y) => {
        const context = canvas.getContext("2d");
        const seen = (x, width) => new Set(new Uint32Array(context.getImageData(x, y, width, 1).data.buffer)).size;
        return [seen(4, 60), seen(canvas.width / 2, canvas.width / 2 - 60)];
      },
      Math.round(box.y - picture.y + 5),
    );
    assert.ok(colors[1] > colors[0], `${name}: ${colors}`);
  }
}

/// Without times, there is no axis, but a link still restores the panel.
async function timeless(viewer, browser) {
  await viewer.page.getByText("Nothing in this trace has a time").waitFor();
  await viewer.panel("flame");
  await viewer.linkIs("the panel is in the link", ({ panel }) => panel === "flame");
  const other = await Viewer.open(browser, viewer.page.url(), viewer.asked);
  await other.page.locator('#tabs [data-panel="flame"][aria-selected="true"]').waitFor();
  assert.deepEqual(other.complaints, []);
  await other.context.close();
}

/// Every button can be reached in a narrow window, and so can every column.
async function narrow(viewer) {
  const { page } = viewer;
  const width = 420;
  await page.setViewportSize({ width, height: 700 });
  const boxes = () =>
    page
      .locator("#bar button, #search")
      .evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().right));
  await until(
    "all buttons are in the window",
    boxes,
    (rights) => rights.length > 4 && rights.every((right) => right <= width),
  );
  const labels = await page.locator("#labels").boundingBox();
  await until(
    "the picture has most of the room",
    async () => (await page.locator("#picture").boundingBox()).width,
    (wide) => wide >= width - labels.width - 1 && wide > width / 2,
  );
  await page.setViewportSize({ width: 1280, height: 720 });
  await viewer.panel("definitions");
  await viewer.rowsAre("the declarations are there", (rows) => rows.length > 0);
  const table = page.locator("#panel .rows");
  await until(
    "no column is out of sight",
    () => table.evaluate((rows) => rows.querySelector("table").offsetWidth - rows.clientWidth),
    (over) => over <= 0,
  );
}

const CHECKS = { texts, timeless, narrow };

await test((viewer, { more }, browser) => CHECKS[more.check](viewer, browser));
