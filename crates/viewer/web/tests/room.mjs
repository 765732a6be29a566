// Texts have room, at the usual size of a window and at a small one: what is cut is whole in a tip.

import assert from "node:assert/strict";
import { test, until } from "./viewer.mjs";

/// Texts of the panel that are cut without a tip that has them whole.
const cut = (viewer) =>
  viewer.page.locator("#panel").evaluate((panel) => {
    const isCut = (one) =>
      one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX === "hidden";
    const tip = (one) => one.closest("[title]")?.getAttribute("title") ?? "";
    const plain = (text) => text.replace(/\s+/g, "");
    return [...panel.querySelectorAll("*")]
      .filter((one) => isCut(one) && !one.querySelector("*") && !plain(tip(one)).includes(plain(one.textContent)))
      .map((one) => `${one.className} ${one.textContent}`);
  });

/// Whether each element can be seen: it is in the window, or in something that scrolls to it.
const unreached = (viewer, selector) =>
  viewer.page.locator(selector).evaluateAll((all) =>
    all
      .filter((one) => {
        const { right } = one.getBoundingClientRect();
        let room = one.parentElement;
        while (room && !(room.scrollWidth > room.clientWidth && /auto|scroll/.test(getComputedStyle(room).overflowX)))
          room = room.parentElement;
        return room === null && right > innerWidth + 1;
      })
      .map((one) => one.textContent),
  );

/// Every panel, with its first row chosen.
async function nothingIsCut(viewer, [width, height]) {
  await viewer.page.setViewportSize({ width, height });
  for (const id of await viewer.tabs()) {
    await viewer.panel(id);
    const rows = viewer.page.locator("#panel tbody tr[data-at], #panel [data-line], #panel tr[tabindex]");
    await viewer.page.waitForLoadState("networkidle");
    if ((await rows.count()) > 0) await rows.first().click();
    await viewer.page.waitForLoadState("networkidle");
    await until(
      `${id} cuts nothing at ${width}`,
      () => cut(viewer),
      (found) => found.length === 0,
    );
    for (const part of ["#panel th", "#panel .tools button", "#panel .sums small"])
      assert.deepEqual(await unreached(viewer, part), [], `${id} at ${width}: ${part}`);
  }
}

/// The numbers of the search are whole.
async function searchIsWhole(viewer) {
  await viewer.focus();
  await viewer.press("/");
  await viewer.page.keyboard.type("e");
  const hits = viewer.page.locator("#hits");
  await until(
    "it counts",
    () => hits.textContent(),
    (text) => /\d/.test(text),
  );
  const [shown, isCut] = await hits.evaluate((one) => [one.textContent, one.scrollWidth > one.clientWidth + 1]);
  assert.ok(!isCut && !/\s,|,\s*$/.test(shown), shown);
}

await test(async (viewer) => {
  for (const size of [
    [1280, 720],
    [800, 600],
  ])
    await nothingIsCut(viewer, size);
  if ((await viewer.state()).names > 0) await searchIsWhole(viewer);
});
