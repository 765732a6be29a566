// Malicious names are always shown as text.

import assert from "node:assert/strict";
import { test, until } from "./viewer.mjs";

/// Elements that the page never creates.
const FOREIGN =
  'img, svg, iframe, object, embed, script:not([src]), [onerror], [onload], link:not([rel="icon"]):not([rel="stylesheet"]), #panel > u, #panel s, a[href^="javascript"]';

const nothingIsInjected = async (viewer, where) => {
  const found = await viewer.page.evaluate(
    (foreign) => [...document.querySelectorAll(foreign)].map((element) => element.outerHTML.slice(0, 200)),
    FOREIGN,
  );
  assert.deepEqual(found, [], where);
  assert.deepEqual(viewer.complaints, [], where);
};

/// All text on the page: texts, titles and fields.
const texts = (viewer) =>
  viewer.page.evaluate(() =>
    [
      document.title,
      document.body.innerText,
      ...[...document.querySelectorAll("[title]")].map((element) => element.title),
    ].join("\n"),
  );

await test(async (viewer, { more }) => {
  await nothingIsInjected(viewer, "at first");
  const seen = [await texts(viewer)];
  for (const id of await viewer.tabs()) {
    await viewer.panel(id);
    await until(
      `${id} is filled`,
      () => viewer.page.locator("#panel").innerText(),
      (text) => text.trim() !== "",
    );
    // Lists, and the targets of their rows.
    const choices = await viewer.page
      .locator("#panel [role=radio]:not(:disabled)")
      .evaluateAll((buttons) => buttons.map((button) => button.dataset.choice));
    for (const choice of choices) {
      const button = viewer.page.locator(`#panel [data-choice="${choice}"]:not(:disabled)`).first();
      if ((await button.count()) > 0) await button.click();
      seen.push(await texts(viewer));
    }
    const rows = viewer.page.locator("#panel tbody tr[data-at], #panel [data-line]");
    if ((await rows.count()) > 0) await rows.first().click();
    seen.push(await texts(viewer));
    await nothingIsInjected(viewer, id);
  }
  await viewer.focus();
  await viewer.press("Escape", "0");
  // Each name can be found and selected, and is shown next to the pointer.
  for (const name of more.names) {
    await viewer.page.locator("#search").fill(name.split("\n")[0].slice(0, 200));
    await viewer.press("Enter");
    await viewer.linkIs(
      `${JSON.stringify(name.slice(0, 60))} is selected`,
      (link) => link.name !== null && link.place !== null,
    );
    await viewer.page.locator("#search").fill("");
    await viewer.focus();
    await viewer.press("f");
    await viewer.isDrawn();
    seen.push(await texts(viewer));
    await nothingIsInjected(viewer, name.slice(0, 60));
    await viewer.press("Escape", "0");
  }
  const all = seen.join("\n").replace(/\s+/g, " ");
  // Direction marks are visible and have no effect.
  const shown = (name) => name.replace(/[\u202a-\u202e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16)}`);
  assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(all), "no text turns round what follows it");
  for (const name of more.names)
    assert.ok(all.includes(shown(name).replace(/\s+/g, " ").slice(0, 100).trim()), `${name.slice(0, 60)} is shown`);
});
