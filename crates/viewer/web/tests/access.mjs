// Accessibility: axe-core finds no problems in any panel, dialog or message, in both themes.

import assert from "node:assert/strict";
import { main } from "../../../testkit/browser/browser.mjs";
import { assertAccessible } from "./axe.mjs";
import { Viewer } from "./viewer.mjs";

/// Every panel, with its first row selected.
async function panels(viewer, { asked, colorScheme }) {
  // Only one of several traces can be moved; there is a button for each visible heading.
  const moves = await viewer.page.getByRole("button", { name: /^± 0: move this trace/ }).count();
  assert.equal(moves > 0, asked.files.length > 1, `${moves} buttons move traces`);
  for (const id of await viewer.tabs()) {
    await viewer.panel(id);
    const rows = viewer.page.locator("#panel tbody tr[data-at], #panel [data-line]");
    if ((await rows.count()) > 0) await rows.first().click();
    await assertAccessible(viewer, `${id}, ${colorScheme}`);
    if (id !== "sql") continue;
    // The first example can also be a chart and a track.
    await viewer.choose("chart");
    await viewer.page.locator("#panel .bars, #panel figure.line").waitFor();
    await assertAccessible(viewer, `chart, ${colorScheme}`);
  }
}

/// An alert about a file that cannot be read, and a message that goes away by itself.
async function messages(viewer, colorScheme) {
  const alert = viewer.page.getByRole("alert").filter({ hasText: "broken" });
  await alert.waitFor();
  await assertAccessible(viewer, `alert, ${colorScheme}`);
  await alert.getByRole("button", { name: "Close" }).click();
  await viewer.focus();
  await viewer.press("n");
  const toast = viewer.page.getByRole("status").filter({ hasText: "Select a span or a name first" });
  // It stays while the pointer is on it.
  await toast.hover();
  await assertAccessible(viewer, `toast, ${colorScheme}`);
  assert.ok(await toast.isVisible(), "the toast is still there");
}

/// Each dialog by its title or field, and how it is opened.
const DIALOGS = [
  ["Go to a time", (viewer) => viewer.press("g")],
  ["Move game.prof", ({ page }) => page.locator('[data-what^="offset"]').first().click()],
  ["Keys", (viewer) => viewer.press("?")],
  ["Note", (viewer) => viewer.press("m")],
  ["Command", (viewer) => viewer.press("Control+k")],
];

async function dialogs(viewer, colorScheme) {
  const dialog = viewer.page.getByRole("dialog");
  for (const [name, open] of DIALOGS) {
    await viewer.focus();
    await open(viewer);
    await dialog
      .getByRole("heading", { name })
      .or(dialog.getByLabel(name, { exact: true }))
      .first()
      .waitFor();
    await assertAccessible(viewer, `${name}, ${colorScheme}`);
    if (name === "Go to a time") {
      await viewer.page.keyboard.type("nonsense");
      await viewer.press("Enter");
      await dialog.getByRole("alert").filter({ hasText: "number with a unit" }).waitFor();
      await assertAccessible(viewer, `${name} with a mistake, ${colorScheme}`);
    }
    await viewer.press("Escape");
    await dialog.waitFor({ state: "hidden" });
  }
}

const CHECKS = {
  panels,
  async overlays(viewer, { colorScheme }) {
    await messages(viewer, colorScheme);
    await dialogs(viewer, colorScheme);
  },
};

await main(async (browser, asked) => {
  for (const colorScheme of ["light", "dark"]) {
    const viewer = await Viewer.open(browser, asked.url, asked, { colorScheme });
    await CHECKS[asked.more.check](viewer, { asked, colorScheme });
    assert.deepEqual(viewer.complaints, []);
    await viewer.context.close();
  }
});
