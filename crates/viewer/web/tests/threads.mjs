// A trace with very many threads: search, keyboard navigation, folding, and virtual labels.

import assert from "node:assert/strict";
import { test, until } from "./viewer.mjs";

/// Whether a heading is visible.
async function isSeen(viewer, name) {
  const label = viewer.page.locator(".label.head").filter({ hasText: new RegExp(`^▾${name}(\\D|$)`) });
  if ((await label.count()) === 0) return false;
  const [box, room] = [await label.boundingBox(), await viewer.page.locator("#timeline").boundingBox()];
  return box !== null && box.y >= room.y + 20 && box.y + box.height <= room.y + room.height;
}

const sees = (viewer, name) => until(`${name} is in sight`, () => isSeen(viewer, name), Boolean);

/// The names are at the same height as their tracks in the picture.
async function labelsAreInPlace(viewer) {
  assert.equal(await viewer.page.locator("#labels").evaluate((labels) => labels.scrollTop), 0);
  const { scroll } = await viewer.linkIs("the link has the place", (link) => link.scroll !== undefined);
  const tops = await viewer.page
    .locator(".label.head")
    .evaluateAll((labels) => labels.map((label) => Number(/translateY\(([-\d.]+)px/.exec(label.style.transform)[1])));
  assert.ok(tops.length > 1 && tops.every((top) => Number.isFinite(top + scroll)));
}

async function threadsAreFound(viewer, threads) {
  const { page } = viewer;
  await viewer.press("/");
  await page.keyboard.type(`worker ${threads - 1}`);
  await page.locator("#hits").filter({ hasText: "1 thread" }).waitFor();
  await viewer.press("Enter");
  await sees(viewer, `worker ${threads - 1}`);
  assert.ok((await page.locator(".label.found").textContent()).includes(`worker ${threads - 1}`));
  // Several matches can be stepped through in both directions, like spans.
  await page.locator("#search").fill(`worker ${threads / 2 - 1}`);
  await viewer.press("Enter");
  await sees(viewer, `worker ${threads / 2 - 1}`);
  await page.locator("#search").fill(String(1_000 + 7));
  await page.locator('#names [data-track="7"]').waitFor();
  await viewer.press("ArrowDown", "Enter");
  await sees(viewer, "worker 7");
  await page.locator("#search").fill("Step");
  await page.locator("#hits").filter({ hasText: "in 1 name" }).waitFor();
  await page.locator("#search").fill("");
}

async function keysWalk(viewer) {
  const { page } = viewer;
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  await page.locator('[data-what="track 7"]').focus();
  for (let at = 8; at < 30; at++) {
    await viewer.press("ArrowDown");
    assert.equal(await focused(), `▾worker ${at}`);
    await sees(viewer, `worker ${at}`);
  }
  for (let at = 28; at > 20; at--) await viewer.press("ArrowUp");
  await sees(viewer, "worker 21");
  await viewer.press("Enter");
  await viewer.linkIs("Enter folds", ({ folded }) => folded.join() === "21");
  await viewer.press("Enter");
  // Tab also scrolls headings into view.
  for (let at = 0; at < 60; at++) await viewer.press("Tab");
  const name = (await focused()).replace(/^▾/, "");
  assert.match(name, /worker|[☆↑↓×]/);
  await labelsAreInPlace(viewer);
}

async function allFold(viewer, threads) {
  const { page } = viewer;
  await viewer.focus();
  const heads = () => page.locator(".label.head").count();
  const before = await heads();
  await viewer.press("c");
  await viewer.linkIs("all are folded", ({ folded }) => folded.length === threads);
  await until("more of them fit", heads, (count) => count > before);
  await viewer.press("c");
  await viewer.linkIs("none is folded", ({ folded }) => folded.length === 0);
  await until("as before", heads, (count) => count <= before + 1);
}

/// The track at the top stays there when all are folded.
async function topStays(viewer) {
  const { page } = viewer;
  await viewer.focus();
  await viewer.linkIs("tracks are scrolled", ({ scroll }) => scroll > 0);
  const first = () =>
    page.evaluate(() => {
      const top = document.querySelector("#timeline").getBoundingClientRect().top + 24;
      const heads = [...document.querySelectorAll(".label.head")].map((label) => ({
        name: label.textContent,
        at: label.getBoundingClientRect().bottom,
      }));
      return heads.filter(({ at }) => at > top).sort((one, other) => one.at - other.at)[0]?.name;
    });
  const number = async () => Number(/worker (\d+)/.exec((await first()) ?? "")?.[1]);
  const before = await number();
  for (const what of ["folded", "unfolded"]) {
    await viewer.press("c");
    await viewer.linkIs(what, ({ folded }) => folded.length > 0 === (what === "folded"));
    assert.ok(Math.abs((await number()) - before) <= 1, `worker ${before} was at the top, now ${await number()} is`);
  }
}

/// Tracks can be filtered and shown in compact rows.
async function tracksAreFiltered(viewer) {
  const { page } = viewer;
  const labels = () =>
    page.locator(".label.head [role=button]").evaluateAll((heads) => heads.map((head) => head.title));
  await viewer.press("T");
  await page.keyboard.type("worker 123");
  await until("only tracks with the name are shown", labels, (names) => names.every((name) => /worker 123/.test(name)));
  await viewer.press("Escape");
  await until("all are back", labels, (names) => names.some((name) => !/worker 123/.test(name)));
  await viewer.press("C");
  const rows = page.locator(".label.spans");
  await until(
    "compact rows show more tracks",
    () => rows.count(),
    (count) => count > 15,
  );
  assert.ok((await rows.first().boundingBox()).height <= 12.5);
  await viewer.press("C");
  await until(
    "and the other way round",
    () => rows.count(),
    (count) => count === 0,
  );
}

await test(async (viewer, { more: { threads } }) => {
  await viewer.focus();
  await viewer.press("0");
  assert.ok((await viewer.page.locator(".label").count()) < 100, "what is not seen is not there");
  await threadsAreFound(viewer, threads);
  await keysWalk(viewer);
  await allFold(viewer, threads);
  await topStays(viewer);
  await tracksAreFiltered(viewer);
  assert.ok((await viewer.page.locator(".label").count()) < 100, "what is not seen is still not there");
});
