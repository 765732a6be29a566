// Declarations link to their uses, by mouse and by keys.
//
// `more.kind` is the kind of declaration that the trace has: one of the checks below.

import assert from "node:assert/strict";
import { test, until, Viewer } from "./viewer.mjs";

const withCommas = (number) => number.toLocaleString("en-US");

/// Opens the panel with the declarations of a kind; returns the used ones.
async function used(viewer, kind) {
  await viewer.panel("definitions");
  await viewer.rowsAre("the declarations are there", (rows) => rows.length > 0);
  if ((await viewer.page.locator(`#panel [data-choice="${kind}"]`).count()) > 0) await viewer.choose(kind);
  const rows = await viewer.rowsAre(
    `those of kind ${kind}`,
    (shown) => shown.length > 0 && shown.every((row) => row.Kind === kind),
  );
  return rows.map((row, at) => ({ ...row, at })).filter((row) => row.Used !== "0");
}

const row = (viewer, at) => viewer.page.locator("#panel tbody tr[data-at]").nth(at);

const isOpen = (viewer, panel) => viewer.page.locator(`#tabs [data-panel="${panel}"][aria-selected="true"]`).waitFor();

/// A log site shows only its lines; the link saves it, and a click on the chip shows all lines again.
async function site(viewer, browser) {
  const { page } = viewer;
  const status = page.locator("#panel").getByRole("status");
  const isFiltered = async (shown, where) => {
    await isOpen(shown, "log");
    await shown.page
      .locator("#panel")
      .getByRole("status")
      .filter({ hasText: new RegExp(`^${where.Used} of [\\d,]+ lines$`) })
      .waitFor();
    const place = where.Place.split("/").pop();
    await until(
      "all lines are of the site",
      () => shown.page.locator("#panel .logline .where").allTextContents(),
      (places) => places.length > 0 && places.every((text) => text === place),
    );
  };
  const [first, second] = await used(viewer, "site");
  await row(viewer, first.at).click();
  await isFiltered(viewer, first);
  await until(
    "the lines have the keys",
    () => page.evaluate(() => document.activeElement.getAttribute("aria-label")),
    (label) => label === "Log lines",
  );
  const link = await viewer.linkIs(
    "the link has the site",
    ({ panel, panels }) => panel === "log" && panels.log?.site?.name === first.Name,
  );
  const other = await Viewer.open(browser, page.url(), viewer.asked);
  await isFiltered(other, first);
  assert.deepEqual((await other.link()).panels.log, link.panels.log);
  await other.context.close();
  // By keys: to the row, into the log, and down its lines.
  await used(viewer, "site");
  await row(viewer, second.at).focus();
  await viewer.press("Enter");
  await isFiltered(viewer, second);
  await viewer.press("ArrowDown");
  await page.locator('#panel .logline[aria-selected="true"]').waitFor();
  await page.locator("#panel .aside dt", { hasText: "format" }).waitFor();
  assert.equal((await viewer.facts("#panel .aside dl")).format, second.Name);
  await page.getByTitle("Show the lines of all sites").click();
  await status.filter({ hasText: /^[\d,]+ lines$/ }).waitFor();
}

/// A function shows the sites that have it in their stack.
async function fn(viewer) {
  const { sites } = viewer.cli("memory", "--json", ...viewer.asked.files);
  const functions = await used(viewer, "function");
  const open = async (name, act) => {
    await act();
    await isOpen(viewer, "memory");
    await viewer.page
      .locator('#panel [data-choice="of"][aria-checked="true"]')
      .filter({ hasText: `In ${name}` })
      .waitFor();
    const expected = sites
      .filter(({ stack }) => stack.some((frame) => frame.function === name))
      .map((site) => withCommas(site.count));
    assert.ok(expected.length > 0, name);
    await viewer.rowsAre(
      `the sites of ${name}`,
      (rows) => rows.map((shown) => shown.count).join(" ") === expected.join(" "),
    );
  };
  const [first, second] = functions;
  await open(first.Name, () => row(viewer, first.at).click());
  await used(viewer, "function");
  await row(viewer, second.at).focus();
  await open(second.Name, () => viewer.press("Enter"));
  // The sites have the focus.
  await viewer.press("ArrowDown", "ArrowUp", "Enter");
  await viewer.page.locator("#panel .aside .stack").waitFor();
}

/// A block selects its spans, and a value is scrolled into view.
async function block(viewer) {
  const [{ Name: name, at }] = await used(viewer, "block");
  await row(viewer, at).click();
  await viewer.linkIs("the name is selected", (link) => link.name === name);
  const value = (await used(viewer, "value")).at(-1);
  // The timeline is too low for it.
  await viewer.page.setViewportSize({ width: 1280, height: 420 });
  await row(viewer, value.at).focus();
  await viewer.press("Enter");
  const label = viewer.page.locator(".label.counter").filter({ hasText: value.Name });
  const room = viewer.page.locator("#timeline");
  await until(
    `${value.Name} is in view`,
    async () => [await label.boundingBox(), await room.boundingBox()],
    ([box, all]) => box && box.y >= all.y && box.y + box.height <= all.y + all.height,
  );
}

/// A file and an eval can be opened.
async function file(viewer) {
  for (const kind of ["file", "eval"]) {
    const [first] = await used(viewer, kind);
    await row(viewer, first.at).click();
    await isOpen(viewer, "source");
    await viewer.page
      .locator("#panel .tools strong, #panel .tools b")
      .filter({ hasText: first.Name.slice(-30) })
      .first()
      .waitFor();
  }
}

const CHECKS = { site, function: fn, block, file };

await test((viewer, { more }, browser) => CHECKS[more.kind](viewer, browser));
