// Folding, pinning, hiding and moving tracks, and the controls around the timeline.

import assert from "node:assert/strict";
import { test, until } from "./viewer.mjs";

const what = (viewer, id) => viewer.page.locator(`[data-what="${id}"]`);

async function tracksChange(viewer) {
  const all = await viewer.heads();
  assert.equal(all.length, viewer.query("select count(*) n from threads")[0].n, "a track for each thread");
  const rows = () => viewer.page.locator(".label").count();
  const before = await rows();
  await what(viewer, "track 0").click();
  await viewer.linkIs("a click folds a track", ({ folded }) => folded.includes(0));
  assert.ok((await rows()) <= before, "a folded track is lower");
  assert.equal(await what(viewer, "track 0").getAttribute("aria-expanded"), "false");
  await viewer.press("Enter");
  await viewer.linkIs("Enter opens it again: the focus stays on it", ({ folded }) => folded.length === 0);
  const [first, second, ...rest] = all;
  await what(viewer, "track 0").hover();
  await what(viewer, "down 0").click();
  await viewer.headsAre("a track moves down", [second, first, ...rest]);
  await what(viewer, "track 0").focus();
  await viewer.press("Alt+ArrowUp");
  await viewer.headsAre("and up by keys", all);
  await what(viewer, "track 1").hover();
  await what(viewer, "pin 1").click();
  await viewer.headsAre("a pinned track comes first", [second, first, ...rest]);
  await viewer.linkIs("the link knows it", ({ pinned }) => pinned.join() === "1");
  await what(viewer, "pin 1").click();
  await viewer.headsAre("and goes back", all);
  await what(viewer, "track 0").hover();
  await what(viewer, "hide 0").click();
  await viewer.headsAre("a hidden track is gone", [second, ...rest]);
  await viewer.focus();
  await viewer.press("H");
  await viewer.headsAre("H brings it back", all);
  const [from, to] = [await what(viewer, "track 0").boundingBox(), await what(viewer, "track 1").boundingBox()];
  await viewer.drag([from.x + 30, from.y + 8], [to.x + 30, to.y + 8]);
  await viewer.headsAre("a dragged track goes where it is dropped", [second, first, ...rest]);
  await viewer.linkIs("and folds nothing", ({ folded, order }) => folded.length === 0 && order.length > 0);
}

async function scrolls(viewer) {
  await viewer.page.setViewportSize({ width: 1280, height: 480 });
  await until(
    "the picture is as small as its place",
    async () => (await viewer.page.locator("#picture").boundingBox()).height,
    (height) => height < 200,
  );
  const top = () =>
    viewer.page
      .locator(".label")
      .first()
      .evaluate((label) => label.getBoundingClientRect().top);
  const before = await top();
  await viewer.focus();
  await viewer.press("ArrowDown");
  await until("the arrow scrolls down", top, (now) => now < before);
  await viewer.press("ArrowUp", "ArrowUp");
  await until("and up", top, (now) => now === before);
  const box = await viewer.page.locator("#picture").boundingBox();
  await viewer.page.mouse.move(box.x + 300, box.y + 60);
  await viewer.page.keyboard.down("Shift");
  await viewer.page.mouse.wheel(0, 60);
  await viewer.page.keyboard.up("Shift");
  await until("the wheel with shift scrolls", top, (now) => now < before);
  await viewer.page.setViewportSize({ width: 1280, height: 720 });
}

async function panelsFollowKeys(viewer) {
  const ids = await viewer.tabs();
  await viewer.panel(ids[0]);
  await viewer.focus();
  for (const id of [...ids.slice(1), ids[0]]) {
    await viewer.press("]");
    await viewer.page.locator(`#tabs [data-panel="${id}"][aria-selected="true"]`).waitFor();
  }
  await viewer.press("[");
  await viewer.page.locator(`#tabs [data-panel="${ids.at(-1)}"][aria-selected="true"]`).waitFor();
  const height = () => viewer.page.locator("#panels").evaluate((panels) => panels.getBoundingClientRect().height);
  const before = await height();
  await viewer.page.locator("#divider").focus();
  await viewer.press("ArrowUp");
  await until("the divider moves by keys", height, (now) => now > before);
  const box = await viewer.page.locator("#divider").boundingBox();
  await viewer.drag([600, box.y + 2], [600, box.y + 42]);
  await until("and by the mouse", height, (now) => now < before);
}

async function keysAreShown(viewer) {
  await viewer.focus();
  await viewer.press("?");
  const dialog = viewer.page.getByRole("dialog");
  await dialog.waitFor();
  const text = await dialog.textContent();
  for (const key of ["zoom in", "search", "go to a time", "switch between light and dark", "clear the selection"])
    assert.ok(text.includes(key), key);
  await viewer.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  await viewer.page.getByRole("button", { name: "Keys" }).click();
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "hidden" });
}

async function themeChanges(viewer) {
  const theme = () => viewer.page.evaluate(() => document.documentElement.dataset.theme);
  const back = () => viewer.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const [before, color] = [await theme(), await back()];
  await viewer.focus();
  await viewer.press("t");
  const after = await until("t changes it", theme, (now) => now !== before);
  assert.notEqual(await back(), color, "and the colors with it");
  await viewer.page.reload();
  await viewer.isDrawn();
  assert.equal(await theme(), after, "it is remembered");
  await viewer.page.getByRole("button", { name: "Theme" }).click();
  await until("the button changes it back", theme, (now) => now === before);
}

/// All controls can be reached with Tab, and the focus is visible.
async function focusIsSeen(viewer) {
  await viewer.page.evaluate(() => document.activeElement?.blur());
  const seen = new Set();
  for (let step = 0; step < 60; step++) {
    await viewer.press("Tab");
    const focused = await viewer.page.evaluate(() => {
      const style = getComputedStyle(document.activeElement);
      const id =
        document.activeElement.id ||
        document.activeElement.dataset.what ||
        document.activeElement.dataset.panel ||
        document.activeElement.tagName;
      return { id, isSeen: style.outlineStyle !== "none" || document.activeElement === document.body };
    });
    assert.ok(focused.isSeen, `${focused.id} shows no focus`);
    seen.add(focused.id);
  }
  for (const id of [
    "search",
    "goto",
    "box",
    "png",
    "theme",
    "help",
    "minimap",
    "picture",
    "track 0",
    "divider",
    "selection",
  ])
    assert.ok(seen.has(id), `Tab does not reach ${id}`);
}

const STEPS = [tracksChange, scrolls, panelsFollowKeys, keysAreShown, themeChanges, focusIsSeen];

await test(async (viewer) => {
  for (const step of STEPS) await step(viewer);
});
