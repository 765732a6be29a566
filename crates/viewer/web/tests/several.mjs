// Several threads or files: which is which, in which order, and where on the axis.

import assert from "node:assert/strict";
import path from "node:path";
import { test, until } from "./viewer.mjs";

/// Threads of one name have their id; a filter and an order apply to full and to compact tracks.
async function alike(viewer) {
  const { page } = viewer;
  const order = page.getByRole("combobox", { name: "Order of tracks" });
  await viewer.headsAre("threads of one name have their id", ["io 100", "io 101", "main"]);
  const busy = ["io 101", "main", "io 100"];
  await order.selectOption("Busy");
  await viewer.headsAre("the busiest comes first", busy);
  await viewer.linkIs("the link knows the order", ({ sort }) => sort === "busy");
  const filter = page.getByRole("searchbox", { name: "Only tracks with this name" });
  await filter.fill("io");
  await viewer.headsAre("a filter leaves tracks of the name", ["io 101", "io 100"]);
  await filter.fill("IO 100");
  await viewer.headsAre("and finds the id", ["io 100"]);
  await filter.fill("");
  await viewer.headsAre("all are back", busy);
  await page.getByRole("button", { name: "Compact rows" }).click();
  const rows = page.locator(".label.spans");
  const names = () => rows.evaluateAll((labels) => labels.map((label) => [label.textContent, label.offsetHeight]));
  const isCompact = (found) =>
    found.map(([name]) => name).join() === busy.join() && found.every(([, high]) => high === 12);
  await until("compact rows have the same order", names, isCompact);
  await page.getByRole("button", { name: "Compact rows" }).click();
  await order.selectOption("File");
  await viewer.headsAre("in the order of the file again", ["io 100", "io 101", "main"]);
}

/// The heading of a file zooms to it, wherever it is on the axis, and files are aligned by the time of day.
async function lengths(viewer) {
  const { page, asked } = viewer;
  const { traces } = await viewer.state();
  const names = asked.files.map((file) => path.basename(file));
  const headings = names.map((name) => page.locator(".label.group").filter({ hasText: name }));
  const isZoomedTo = (number) => (link) => {
    const { from_ns: start, to_ns: end } = traces[number];
    const [first, last] = [start, end].map((ns) => ns + link.offsets[number]);
    return link.from <= first && link.to >= last && link.to - link.from < 1.2 * (last - first);
  };
  const zoom = async (what) => {
    for (const number of [1, 0]) {
      await headings[number].locator('[data-what^="group"]').dblclick();
      await viewer.linkIs(`a double click ${what} shows ${names[number]}`, isZoomedTo(number));
    }
    await headings[1].hover();
    await headings[1].getByRole("button", { name: `Zoom to ${names[1]}` }).click();
    await viewer.linkIs(`and the button ${what}`, isZoomedTo(1));
  };
  const choose = async (choice, offsets) => {
    await headings[0].locator('[data-what^="offset"]').click();
    await page.getByRole("dialog").getByRole("button", { name: choice }).click();
    await viewer.linkIs(choice, (link) => link.offsets.join() === offsets.join());
  };
  const [first, second] = traces.map(({ unix_origin_ns: origin }) => BigInt(origin));
  const later = Number(second - first);
  assert.equal(later, 250e6, "the second one starts a quarter of a second later");
  await choose("All at their own times", [0, 0]);
  await zoom("at their own times");
  await choose("Align by time of day", [0, later]);
  await zoom("by time of day");
  await choose(
    "All start together",
    traces.map(({ from_ns: start }) => 0 - start),
  );
}

const CHECKS = { alike, lengths };

await test((viewer, { more }) => CHECKS[more.check](viewer));
